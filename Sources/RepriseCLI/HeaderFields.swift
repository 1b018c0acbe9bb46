import ArgumentParser
import HTTPTypes

/// Header fields from the command line.
enum HeaderFields {
    /// The fields in `lines`, each `Name: value`.
    static func parse(_ lines: [String]) throws(ValidationError) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            let name = line.prefix { $0 != ":" }
            guard name.count < line.count, let fieldName = HTTPField.Name(String(name)) else {
                throw ValidationError("--header takes \"Name: value\".")
            }
            let value = line.dropFirst(name.count + 1).drop { $0 == " " }
            guard HTTPField.isValidValue(String(value)) else {
                throw ValidationError("The value of \(name) has line breaks.")
            }
            fields.append(HTTPField(name: fieldName, value: String(value)))
        }
        return fields
    }
}
