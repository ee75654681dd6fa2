#include "schema/utf8.hpp"
#include "text_formats.hpp"

#include <string_view>

namespace kopp::schema {
namespace {

constexpr std::string_view kBlanks = " \t";

bool IsMultibyte(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool IsVisible(char c) { return (c >= '!' && c <= '~') || IsMultibyte(c); }
bool IsAtomText(char c) {
  return IsVisible(c) && std::string_view("()<>[]:;@\\,\"").find(c) == std::string_view::npos;
}

/// Parses a mailbox of RFC 5322 from the front of a text, as net/mail of Go does. Each function
/// returns whether it has consumed what it names.
class MailboxParser {
 public:
  explicit MailboxParser(std::string_view text) : rest_(text) {}

  /// mailbox = addr-spec [comment] / [phrase] "<" addr-spec ">"
  bool Mailbox() {
    SkipBlanks();
    if (const std::string_view all = rest_; !AddressSpec()) {
      rest_ = all;
      if (!Starts('<') && !Phrase()) return false;
      SkipBlanks();
      if (!Consume('<') || !AddressSpec() || !Consume('>')) return false;
    }
    return SkipComments() && rest_.empty();
  }

 private:
  [[nodiscard]] bool Starts(char c) const { return rest_.starts_with(c); }
  bool Consume(char c) {
    if (!Starts(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void SkipBlanks() {
    const std::size_t end = rest_.find_first_not_of(kBlanks);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
  }
  /// Skips blanks and comments. Returns false if a comment does not end.
  bool SkipComments() {
    for (SkipBlanks(); Starts('('); SkipBlanks()) {
      if (!Comment()) return false;
    }
    return true;
  }
  bool Comment() {
    int depth = 0;
    do {
      if (rest_.empty()) return false;
      if (Starts('\\'))
        rest_.remove_prefix(1);
      else if (Starts('('))
        ++depth;
      else if (Starts(')'))
        --depth;
      if (!rest_.empty()) rest_.remove_prefix(1);
    } while (depth > 0);
    return true;
  }

  /// addr-spec = (dot-atom / quoted-string) "@" (dot-atom / domain-literal)
  bool AddressSpec() {
    SkipBlanks();
    if (!(Starts('"') ? QuotedString(/*may_be_empty=*/false) : DotAtom())) return false;
    if (!Consume('@')) return false;
    SkipBlanks();
    return Starts('[') ? DomainLiteral() : DotAtom();
  }
  /// Atoms that are separated by single dots.
  bool DotAtom() {
    const std::string_view atom = Atom();
    return !atom.empty() && !atom.starts_with('.') && !atom.ends_with('.') &&
           atom.find("..") == std::string_view::npos;
  }
  /// Consumes text of atoms and dots.
  std::string_view Atom() {
    std::size_t size = 0;
    while (size < rest_.size() && IsAtomText(rest_[size])) ++size;
    const std::string_view atom = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return atom;
  }
  bool QuotedString(bool may_be_empty) {
    Consume('"');
    for (std::size_t size = 0;; ++size) {
      if (Consume('"')) return may_be_empty || size > 0;
      Consume('\\');
      if (rest_.empty() ||
          (!IsVisible(rest_[0]) && kBlanks.find(rest_[0]) == std::string_view::npos))
        return false;
      rest_.remove_prefix(1);
    }
  }
  bool DomainLiteral() {
    const std::size_t end = rest_.find(']');
    if (end == std::string_view::npos) return false;
    const std::string address(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return IsIpAddressFormat(address);
  }
  /// phrase = 1*(atom / quoted-string); dots are allowed in atoms.
  bool Phrase() {
    int words = 0;
    for (;; ++words) {
      if (words > 0 && !SkipComments()) return false;
      SkipBlanks();
      const std::string_view all = rest_;
      if (Starts('"') ? QuotedString(/*may_be_empty=*/true) : !Atom().empty()) continue;
      rest_ = all;
      return words > 0;
    }
  }

  std::string_view rest_;
};

}  // namespace

bool IsEmailFormat(const std::string& text) {
  return ToValidUtf8(text) == text && MailboxParser(text).Mailbox();
}

}  // namespace kopp::schema
