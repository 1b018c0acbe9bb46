/// Reads `EXT-X-DEFINE` (rfc8216bis §4.4.2.3).
struct DefinitionReader {
    private let context: HLSContext

    init(_ context: HLSContext) { self.context = context }

    /// Defines the variable of one tag, or notes why it cannot be defined.
    ///
    /// A value is taken as written: references in it are not expanded, neither here nor where the variable is used.
    func read(_ value: Range<Int>, in text: inout HLSText) throws(PlaylistError) {
        var attributes = AttributeReader(text.bytes, at: value)
        var (name, content): ([UInt8]?, [UInt8]?)
        var (imported, parameter): ([UInt8]?, [UInt8]?)
        var parameterPlace = 0..<0
        while let attribute = attributes.next() {
            guard attribute.isQuoted else { continue }
            let bytes = Array(text.bytes[attribute.value])
            switch text.name(attribute) {
            case "NAME": name = bytes
            case "VALUE": content = bytes
            case "IMPORT": imported = bytes
            case "QUERYPARAM": (parameter, parameterPlace) = (bytes, attribute.whole)
            default: break
            }
        }
        text.note(attributes)
        switch (name, content, imported, parameter) {
        case (let name?, let content?, nil, nil): define(name, as: content, in: &text)
        case (nil, nil, let imported?, nil):
            if let value = context.imported?[bytes: imported] {
                define(imported, as: value, in: &text)
            } else {
                text.note(.undefinedVariable, "The imported variable is not known.")
            }
        case (nil, nil, nil, let parameter?):
            try text.budget.spend(bytes: context.url?.bytes.count ?? 0)
            if let value = context.url?.queryValue(parameter), !value.isEmpty {
                text.queryVariables.append(QueryVariable(place: parameterPlace, name: parameter, value: value))
                define(parameter, as: value, in: &text)
            } else {
                text.note(.undefinedVariable, "The URL has no such query parameter, or an empty one.")
            }
        default: text.note(.invalidDefinition, "Needs NAME and VALUE, or IMPORT, or QUERYPARAM.")
        }
    }

    private func define(_ name: [UInt8], as value: [UInt8], in text: inout HLSText) {
        guard !name.isEmpty, name.allSatisfy(Variables.isName) else {
            text.note(.invalidDefinition, "The name of the variable has characters that are not allowed.")
            return
        }
        text.define(name, as: value)
    }
}
