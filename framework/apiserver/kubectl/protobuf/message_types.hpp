#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>

namespace kopp::apiserver {

/// The protobuf messages of the built-in kinds. Thread-safe after construction.
class MessageTypes {
 public:
  /// How a message is written in JSON.
  enum class Form {
    kObject,
    kTime,           ///< metav1.Time: "2024-01-31T12:00:00Z"
    kMicroTime,      ///< metav1.MicroTime: "2024-01-31T12:00:00.000000Z"
    kIntOrString,    ///< an integer or a string
    kWrapper,        ///< the value of the only field, such as a Quantity
    kJson,           ///< the JSON value whose text is in the only field
    kObjectOrItems,  ///< the object in field 1, or else the list in field 2
    kObjectOrBool,   ///< the object in field 2, or else the boolean in field 1
  };

  /// Parses `text` in the format that the head of data/messages.txt describes. Throws
  /// std::invalid_argument if it has a syntax error or does not contain all messages that it uses.
  explicit MessageTypes(std::string_view text);

  /// Returns the messages of data/messages.txt. The first call parses them.
  static const MessageTypes& BuiltIn();

  /// Finds a message by its name, such as "core.v1.Pod". Returns nullptr if there is none.
  [[nodiscard]] const google::protobuf::Descriptor* Find(std::string_view name) const;
  /// Finds the message of a kind, also DeleteOptions, which belongs to every API group. Returns
  /// nullptr if there is none.
  [[nodiscard]] const google::protobuf::Descriptor* FindKind(std::string_view api_version,
                                                             std::string_view kind) const;
  /// Returns an empty message.
  [[nodiscard]] std::unique_ptr<google::protobuf::Message> New(
      const google::protobuf::Descriptor& type) const;
  [[nodiscard]] Form FormOf(const google::protobuf::Descriptor& type) const;
  /// Returns whether the fields of the message `field` are fields of the outer object in JSON.
  [[nodiscard]] static bool IsInlined(const google::protobuf::FieldDescriptor& field) {
    return field.json_name() == ".";
  }
  /// Returns whether JSON omits the zero value of `field`.
  [[nodiscard]] bool OmitsZero(const google::protobuf::FieldDescriptor& field) const {
    return omits_zero_.contains(&field);
  }

 private:
  google::protobuf::DescriptorPool pool_;
  mutable google::protobuf::DynamicMessageFactory factory_{&pool_};  // thread-safe
  std::unordered_set<const google::protobuf::FieldDescriptor*> omits_zero_;
  std::unordered_map<const google::protobuf::Descriptor*, Form> forms_;
};

}  // namespace kopp::apiserver
