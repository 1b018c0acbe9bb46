import ArgumentParser
import HTTPTypes
import Reprise

/// The `--header` option of commands that fetch.
struct HeaderOptions: ParsableArguments {
    @Option(
        name: .customLong("header"),
        help: ArgumentHelp(
            "Field sent to the origin, such as \"Authorization: Bearer …\"; may be repeated.", valueName: "field"))
    var lines: [String] = []

    /// Whether the option was given.
    var isGiven: Bool { !lines.isEmpty }

    func validate() throws { _ = try HeaderFields.options(lines) }
}

/// Header fields from the command line.
enum HeaderFields {
    /// Fields that the command decides on itself, or that belong to one request.
    private static let own: Set<String> = [
        "host", "connection", "proxy-connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
        "content-length", "content-type", "expect", "range", "if-range", "if-match", "if-none-match",
        "if-modified-since", "if-unmodified-since", "accept-encoding", "via", "http2-settings",
    ]

    /// Whether a field must not come from a file or a program.
    static func isOwn(_ name: HTTPField.Name) -> Bool { own.contains(name.canonicalName) }

    /// The fields of options `--header`.
    ///
    /// Throws also for those that the command decides on itself.
    static func options(_ lines: [String]) throws(ValidationError) -> HTTPFields {
        let fields = try parse(lines)
        if let own = fields.first(where: { isOwn($0.name) }) {
            throw ValidationError("--header cannot give \(own.name): Reprise sends that field itself.")
        }
        return fields
    }

    /// Parses the fields of a control operation, each `Name: value`.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument` for a malformed field, or one that Reprise sends itself.
    static func ofOperation(_ lines: [String]?) throws(RepriseError) -> HTTPFields {
        let parsed: HTTPFields
        do { parsed = try parse(lines ?? []) } catch {
            throw RepriseError(.invalidArgument, "A field is \"Name: value\" without line breaks.")
        }
        if let own = parsed.first(where: { isOwn($0.name) }) {
            throw RepriseError(.invalidArgument, "\(own.name) cannot be given: Reprise sends that field itself.")
        }
        return parsed
    }

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
