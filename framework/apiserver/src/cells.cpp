#include "cells.hpp"

#include "age.hpp"

#include <algorithm>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// "b in (2,3)".
std::string Requirement(const json& expression) {
  std::string key = TextAt(expression, "/key");
  const std::string op = TextAt(expression, "/operator");
  if (op == "Exists") return key;
  if (op == "DoesNotExist") return '!' + key;
  std::vector<std::string> values;
  for (const json& value : At(expression, "/values")) values.push_back(value);
  std::sort(values.begin(), values.end());
  return key + (op == "In" ? " in (" : " notin (") + Joined(values) + ')';
}

}  // namespace

bool HasCondition(const json& object, std::string_view type) {
  const json& conditions = At(object, "/status/conditions");
  return std::any_of(conditions.begin(), conditions.end(), [&](const json& condition) {
    return TextAt(condition, "/type") == type && TextAt(condition, "/status") == "True";
  });
}

bool IsBeingDeleted(const json& object) {
  return !At(object, "/metadata/deletionTimestamp").is_null();
}

std::string Joined(const std::vector<std::string>& words, const std::string& between) {
  std::string joined;
  for (const std::string& word : words) {
    if (&word != &words.front()) joined += between;
    joined += word;
  }
  return joined;
}

std::string Or(std::string text, const char* otherwise) {
  return text.empty() ? otherwise : std::move(text);
}

std::string LabelsInWords(const json& labels) {
  std::vector<std::string> words;
  for (const auto& [name, value] : labels.items()) {
    words.push_back(name + '=' + value.get<std::string>());
  }
  return Joined(words);
}

std::string SelectorInWords(const json& selector) {
  std::map<std::string, std::vector<std::string>> by_key;
  for (const auto& [name, value] : At(selector, "/matchLabels").items()) {
    by_key[name].push_back(name + '=' + value.get<std::string>());
  }
  for (const json& expression : At(selector, "/matchExpressions")) {
    by_key[TextAt(expression, "/key")].push_back(Requirement(expression));
  }
  std::vector<std::string> words;
  for (const auto& [key, requirements] : by_key) {
    words.insert(words.end(), requirements.begin(), requirements.end());
  }
  return Joined(words);
}

Cell Name() { return Text("/metadata/name"); }

Cell Age(std::string pointer, std::string otherwise) {
  return [pointer = std::move(pointer), otherwise = std::move(otherwise)](const json& object,
                                                                          const std::string& now) {
    const std::string since = TextAt(object, pointer);
    return since.empty() ? otherwise : AgeOf(since, now);
  };
}

Cell Text(std::string pointer, std::string otherwise) {
  return [pointer = std::move(pointer), otherwise = std::move(otherwise)](const json& object,
                                                                          const std::string&) {
    const std::string text = TextAt(object, pointer);
    return text.empty() ? otherwise : text;
  };
}

Cell Number(std::string pointer) {
  return [pointer = std::move(pointer)](const json& object, const std::string&) {
    return NumberAt(object, pointer);
  };
}

Cell OutOf(std::string ready, std::string wanted) {
  return [ready = std::move(ready), wanted = std::move(wanted)](const json& object,
                                                                const std::string&) {
    return std::to_string(NumberAt(object, ready)) + '/' + std::to_string(NumberAt(object, wanted));
  };
}

Cell CountOf(std::vector<std::string> pointers) {
  return [pointers = std::move(pointers)](const json& object, const std::string&) {
    std::size_t count = 0;
    for (const std::string& pointer : pointers) count += At(object, pointer).size();
    return count;
  };
}

Cell Each(std::string list, std::string field) {
  return
      [list = std::move(list), field = std::move(field)](const json& object, const std::string&) {
        std::vector<std::string> words;
        for (const json& item : At(object, list)) words.push_back(TextAt(item, field));
        return Joined(words);
      };
}

Cell Labels(std::string pointer) {
  return [pointer = std::move(pointer)](const json& object, const std::string&) {
    return Or(LabelsInWords(At(object, pointer)), "<none>");
  };
}

Cell Selects(std::string pointer) {
  return [pointer = std::move(pointer)](const json& object, const std::string&) {
    return Or(SelectorInWords(At(object, pointer)), "<none>");
  };
}

}  // namespace kopp::apiserver
