#include "kubectl/printers/printers.hpp"

#include "kubectl/printers/timestamp.hpp"

#include <algorithm>
#include <utility>

namespace kopp::apiserver {

using nlohmann::json;

bool HasCondition(const json& object, std::string_view type) {
  const json& conditions = ValueAt(object, "/status/conditions");
  return std::any_of(conditions.begin(), conditions.end(), [&](const json& condition) {
    return StringAt(condition, "/type") == type && StringAt(condition, "/status") == "True";
  });
}

std::string OrDefault(std::string text, const char* otherwise) {
  return text.empty() ? otherwise : std::move(text);
}

Cell Name() { return Text("/metadata/name"); }

Cell Age(std::string pointer, std::string otherwise) {
  return [pointer = std::move(pointer), otherwise = std::move(otherwise)](const json& object,
                                                                          const std::string& now) {
    const std::string since = StringAt(object, pointer);
    return since.empty() ? otherwise : FormatAge(since, now);
  };
}

Cell Text(std::string pointer, std::string otherwise) {
  return [pointer = std::move(pointer), otherwise = std::move(otherwise)](const json& object,
                                                                          const std::string&) {
    const std::string text = StringAt(object, pointer);
    return text.empty() ? otherwise : text;
  };
}

Cell Number(std::string pointer) {
  return [pointer = std::move(pointer)](const json& object, const std::string&) {
    return IntegerAt(object, pointer);
  };
}

Cell Fraction(std::string ready, std::string desired) {
  return [ready = std::move(ready), desired = std::move(desired)](const json& object,
                                                                  const std::string&) {
    return std::to_string(IntegerAt(object, ready)) + '/' +
           std::to_string(IntegerAt(object, desired));
  };
}

Cell ItemCount(std::vector<std::string> pointers) {
  return [pointers = std::move(pointers)](const json& object, const std::string&) {
    std::size_t count = 0;
    for (const std::string& pointer : pointers) count += ValueAt(object, pointer).size();
    return count;
  };
}

Cell JoinedItems(std::string list, std::string field) {
  return
      [list = std::move(list), field = std::move(field)](const json& object, const std::string&) {
        std::vector<std::string> words;
        for (const json& item : ValueAt(object, list)) words.push_back(StringAt(item, field));
        return Join(words);
      };
}

Cell Labels(std::string pointer) {
  return [pointer = std::move(pointer)](const json& object, const std::string&) {
    return OrDefault(FormatLabels(ValueAt(object, pointer)), "<none>");
  };
}

Cell LabelSelectorCell(std::string pointer) {
  return [pointer = std::move(pointer)](const json& object, const std::string&) {
    return OrDefault(FormatSelector(ValueAt(object, pointer)), "<none>");
  };
}

}  // namespace kopp::apiserver
