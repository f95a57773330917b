// SPDX-License-Identifier: Apache-2.0
// The chart library. It is a bundle of its own, run when the first chart comes near.
export { default as embed } from 'vega-embed';
