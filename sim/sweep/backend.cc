// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>

#include "sweep/plan.h"

namespace smk::sim {

Backend RememberingBackend(const Backend& backend) {
  Backend remembering = backend;
  remembering.find_workload =
      [find = backend.find_workload,
       known = std::make_shared<std::map<std::string, std::shared_ptr<const Workload>>>()](
          const std::string& name) {
        auto found = known->find(name);
        if (found == known->end()) found = known->emplace(name, find(name)).first;
        return found->second;
      };
  remembering.load_machine =
      [load = backend.load_machine,
       known = std::make_shared<std::map<std::vector<std::string>, MachineConfig>>()](
          const std::string& path, const std::vector<std::string>& overrides) {
        std::vector<std::string> key = overrides;
        key.push_back(path);
        auto found = known->find(key);
        if (found == known->end()) found = known->emplace(key, load(path, overrides)).first;
        return found->second;
      };
  remembering.find_machine =
      [find = backend.find_machine,
       known = std::make_shared<std::map<std::string, std::string>>()](const std::string& name) {
        auto found = known->find(name);
        if (found == known->end()) found = known->emplace(name, find(name)).first;
        return found->second;
      };
  remembering.machines = std::make_shared<decltype(remembering.machines)::element_type>();
  return remembering;
}

}  // namespace smk::sim
