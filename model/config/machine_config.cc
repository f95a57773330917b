// SPDX-License-Identifier: Apache-2.0
#include "config/machine_config.h"

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/toml_keys.h"
#include "config/machine_keys.h"

namespace smk {
namespace {

// What a value is, for "got ...".
std::string Describe(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "an array";
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

// Reads one machine: first every key of the file, then the overrides, then what concerns several
// keys.
class Reader {
 public:
  Reader(std::string path, MachineConfig* machine)
      : path_(std::move(path)),
        machine_(machine),
        limits_(NaturalLimits::Of(machine->sm.limits)),
        keys_(MachineKeys(machine, &limits_)) {}

  void ReadFile(const std::string& text) {
    toml::table root;
    CheckTomlKeys(text, path_);
    try {
      root = toml::parse(text, path_);
    } catch (const toml::parse_error& error) {
      throw InputError(path_ + ":" + std::to_string(error.source().begin.line) +
                       ": expected TOML, got: " + std::string(error.description()));
    }
    table_lines_[""] = 1;
    ReadTable(root, "");
    for (const MachineKey& key : keys_) {
      if (where_.count(key.path) == 0) {
        Refuse(At(LineOfTable(key.path)), key.path, key.Expected(), "nothing");
      }
    }
  }

  void Override(const std::string& setting) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      throw InputError("--set " + setting + ": expected key=value, got no '='");
    }
    const std::string path = setting.substr(0, equals);
    const std::string text = setting.substr(equals + 1);
    const MachineKey* key = Find(path);
    if (key == nullptr) Refuse("--set ", path, KnownAround(path), "an unknown key");
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    const bool is_text = std::holds_alternative<std::string*>(key->value);
    if (is_text ? !key->Store(text) : !(is_number && key->Store(number))) {
      Refuse("--set ", path, key->Expected(), text.empty() ? "nothing" : text);
    }
    where_[path] = "--set ";
  }

  void CheckTogether() {
    const SmConfig& sm = machine_->sm;
    const MemoryConfig& memory = machine_->memory;
    CheckCache("sm.l1", sm.l1, false);
    CheckCache("sm.texture", sm.texture, false);
    CheckCache("memory.l2", memory.l2, true);
    Require(sm.warps_per_scheduler <= 16 || sm.schedulers <= 2, "sm.warps_per_scheduler",
            "at most 16 with more than 2 schedulers", sm.warps_per_scheduler);
    const unsigned threads = sm.schedulers * sm.warps_per_scheduler * kWarpThreads;
    Require(limits_.threads <= threads, "sm.limits.threads",
            "at most schedulers x warps_per_scheduler x 32 = " + std::to_string(threads),
            limits_.threads);
    Require(memory.t_rc >= memory.t_ras, "memory.t_rc",
            "at least t_ras = " + std::to_string(memory.t_ras), memory.t_rc);
    // A line of an L1 could not say when it will be there.
    const bool in_turn = memory.xbar_order == "turns";
    Require(!in_turn || sm.l1.bytes == 0, "sm.l1.bytes", "0 with memory.xbar_order = turns",
            sm.l1.bytes);
    Require(!in_turn || sm.texture.bytes == 0, "sm.texture.bytes",
            "0 with memory.xbar_order = turns", sm.texture.bytes);
    Require(memory.l2_write_miss != "fetch" || memory.sector_bytes == kLineBytes,
            "memory.sector_bytes", "128 with memory.l2_write_miss = fetch", memory.sector_bytes);
    machine_->sm.limits = limits_.ToUnits();
  }

 private:
  // `path` of a table's own key: "sm.l1" for "sm.l1.bytes".
  static std::string TableOf(const std::string& path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string::npos ? "" : path.substr(0, dot);
  }
  std::string At(unsigned line) const { return path_ + ":" + std::to_string(line) + ": "; }

  [[noreturn]] static void Refuse(const std::string& where, const std::string& key,
                                  const std::string& expected, const std::string& got) {
    throw InputError(where + key + ": expected " + expected + ", got " + got);
  }

  void Require(bool holds, const std::string& key, const std::string& expected, unsigned got) {
    if (!holds) Refuse(where_.at(key), key, expected, std::to_string(got));
  }

  template <typename Cache>
  void CheckCache(const std::string& table, const Cache& cache, bool power_of_two) {
    const unsigned set_bytes = cache.ways * kLineBytes;
    const unsigned sets = cache.bytes / set_bytes;
    const std::string unit = "ways x 128 = " + std::to_string(set_bytes);
    Require(cache.bytes % set_bytes == 0, table + ".bytes", "a multiple of " + unit, cache.bytes);
    Require(!power_of_two || (sets & (sets - 1)) == 0, table + ".bytes",
            "a power of two of " + unit, cache.bytes);
  }

  const MachineKey* Find(const std::string& path) const {
    const auto found = std::find_if(keys_.begin(), keys_.end(),
                                    [&](const MachineKey& key) { return key.path == path; });
    return found == keys_.end() ? nullptr : &*found;
  }

  bool IsTable(const std::string& path) const {
    return std::any_of(keys_.begin(), keys_.end(), [&](const MachineKey& key) {
      return key.path.compare(0, path.size() + 1, path + ".") == 0;
    });
  }

  // The keys and tables that could have been meant: those of the same table, if there is one.
  std::string KnownAround(const std::string& path) const {
    std::string table = TableOf(path);
    while (!table.empty() && !IsTable(table)) table = TableOf(table);
    const std::string prefix = table.empty() ? "" : table + ".";
    std::set<std::string> names;
    for (const MachineKey& key : keys_) {
      if (key.path.compare(0, prefix.size(), prefix) != 0) continue;
      names.insert(
          key.path.substr(prefix.size(), key.path.find('.', prefix.size()) - prefix.size()));
    }
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "one of " : ", ") + name;
    return list;
  }

  unsigned LineOfTable(const std::string& path) const {
    std::string table = TableOf(path);
    while (table_lines_.count(table) == 0) table = TableOf(table);
    return table_lines_.at(table);
  }

  void ReadTable(const toml::table& table, const std::string& prefix) {
    for (const auto& [name, node] : table) {
      const std::string path = prefix + std::string(name.str());
      const unsigned line = name.source().begin.line;
      const MachineKey* key = Find(path);
      if (key != nullptr) {
        ReadValue(*key, node, line);
      } else if (!IsTable(path)) {
        Refuse(At(line), path, KnownAround(path), "an unknown key");
      } else if (const toml::table* inner = node.as_table()) {
        table_lines_[path] = line;
        ReadTable(*inner, path + ".");
      } else {
        Refuse(At(line), path, "a table", Describe(node));
      }
    }
  }

  void ReadValue(const MachineKey& key, const toml::node& node, unsigned line) {
    bool stored = false;
    if (const auto* text = node.as_string()) {
      stored = key.Store(text->get());
    } else if (const auto* integer = node.as_integer()) {
      stored = key.Store(static_cast<double>(integer->get()));
    } else if (const auto* real = node.as_floating_point()) {
      stored = std::holds_alternative<double*>(key.value) && key.Store(real->get());
    }
    if (!stored) Refuse(At(line), key.path, key.Expected(), Describe(node));
    where_[key.path] = At(line);
  }

  const std::string path_;
  MachineConfig* const machine_;
  NaturalLimits limits_;
  const std::vector<MachineKey> keys_;
  std::map<std::string, std::string> where_;  // by key: the head of a message about its value
  std::map<std::string, unsigned> table_lines_;
};

}  // namespace

MachineConfig MachineConfig::Parse(const std::string& text, const std::string& path,
                                   const std::vector<std::string>& overrides) {
  MachineConfig machine;
  Reader reader(path, &machine);
  reader.ReadFile(text);
  for (const std::string& setting : overrides) reader.Override(setting);
  reader.CheckTogether();
  return machine;
}

MachineConfig MachineConfig::Load(const std::string& path,
                                  const std::vector<std::string>& overrides) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw InputError(path + ": expected a machine file, got nothing that can be read");
  return Parse(text.str(), path, overrides);
}

ResourceVector TbNeedOn(const SmConfig& sm, unsigned threads, unsigned registers_per_thread,
                        unsigned shared_bytes) {
  ResourceVector need = TbNeed(threads, registers_per_thread, shared_bytes);
  if (sm.register_allocation == "threads") {
    need.registers = static_cast<std::uint16_t>(
        (threads * registers_per_thread + kRegisterUnit - 1) / kRegisterUnit);
  }
  return need;
}

std::string ToToml(const MachineConfig& machine) {
  MachineConfig copy = machine;
  NaturalLimits limits = NaturalLimits::Of(machine.sm.limits);
  std::string text, table;
  for (const MachineKey& key : MachineKeys(&copy, &limits)) {
    const std::size_t dot = key.path.rfind('.');
    const std::string own = dot == std::string::npos ? "" : key.path.substr(0, dot);
    if (own != table) text += "\n[" + own + "]\n";
    table = own;
    text += (dot == std::string::npos ? key.path : key.path.substr(dot + 1)) + " = " + key.Print() +
            "\n";
  }
  return text;
}

std::vector<std::string> ListMachines(const std::string& data_dir) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(data_dir) / "machines", error)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string FindMachine(const std::string& name, const std::string& data_dir) {
  const bool is_path = name.find('/') != std::string::npos ||
                       (name.size() > 5 && name.compare(name.size() - 5, 5, ".toml") == 0);
  const std::filesystem::path path =
      is_path ? std::filesystem::path(name)
              : std::filesystem::path(data_dir) / "machines" / (name + ".toml");
  std::error_code ignored;  // such as too many links
  if (std::filesystem::is_regular_file(path, ignored)) return path.string();
  std::string known;
  for (const std::string& machine : ListMachines(data_dir)) known += machine + ", ";
  throw InputError("machine: expected one of " + known + "or a machine file, got " + name);
}

}  // namespace smk
