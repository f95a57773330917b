// SPDX-License-Identifier: Apache-2.0
// Rules for the page, its build and its tests; scripts/lint js. The rules of others come from where
// npm has installed the linter, which is in the build folder.
import { createRequire } from 'node:module';

const require = createRequire(process.argv[1]);
const globals = require('globals');

export default [
  require('@eslint/js').configs.recommended,
  {
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-shadow': 'error',
      'no-use-before-define': ['error', { functions: false, variables: false }],
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
      'prefer-template': 'error',
    },
  },
  { files: ['sim/report/page/src/**'], languageOptions: { globals: globals.browser } },
  // The tests hand functions to the browser.
  { files: ['sim/report/page/*.mjs'], languageOptions: { globals: globals.node } },
  {
    files: ['tests/report/**'],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
];
