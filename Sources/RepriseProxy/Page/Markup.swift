/// HTML in the making.
///
/// Text from outside enters through ``text(_:)`` and ``attribute(_:_:)`` only, and stays text whatever it contains.
struct Markup: Sendable {
    private(set) var html = ""

    init() {}

    /// Adds HTML of this program.
    ///
    /// Only what is written in the source can be passed.
    mutating func tags(_ html: StaticString) { self.html += html.description }

    /// Adds `text`, which stays text whatever it contains.
    mutating func text(_ text: String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            case "'": html += "&#39;"
            case _ where scalar.properties.generalCategory == .control: html += " "
            default: html.unicodeScalars.append(scalar)
            }
        }
    }

    /// Adds an attribute with that value; between the name of an element and the end of its tag.
    mutating func attribute(_ name: StaticString, _ value: String) {
        html += " \(name.description)=\""
        text(value)
        html += "\""
    }

    /// Adds an element with that text.
    mutating func element(_ begin: StaticString, _ text: String, _ end: StaticString) {
        tags(begin)
        self.text(text)
        tags(end)
    }
}
