#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import RepriseTesting
    import Testing

    /// A file of scenarios: AVPlayer's requests, and the required results.
    struct ScriptFile {
        /// A scenario as it was read, or why it cannot be.
        struct Entry {
            /// The scenario's identifier, or its place in the file if it has none.
            let name: String
            let scenario: Result<Scenario, any Error>
        }

        /// A scenario that cannot be read does not prevent the others from being played.
        let scenarios: [Entry]

        init(path: String) throws {
            let root = try JSONDecoder().decode(ScriptValue.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
            var fields = try ScriptFields(root, (path as NSString).lastPathComponent)
            let schema = try fields.require(fields.text("schema"), "schema")
            guard schema == "avplayer-scripts/1" else {
                throw ScriptFormatError("\(fields.place): the schema is \(schema), not avplayer-scripts/1")
            }
            let list = try fields.require(fields.list("scenarios"), "scenarios")
            for name in ["conventions", "invariants", "ops", "sources", "generated", "title", "notes"] {
                _ = fields.value(name)
            }
            try fields.finish()
            guard !list.isEmpty else { throw ScriptFormatError("\(fields.place): there are no scenarios in it") }
            let file = fields.place
            scenarios = list.enumerated().map { index, value in
                let name = Self.identifier(of: value) ?? "\(file), scenario \(index + 1)"
                return Entry(name: name, scenario: Result { try Scenario(value, named: name) })
            }
        }

        private static func identifier(of value: ScriptValue) -> String? {
            guard case .object(let fields) = value, case .text(let id)? = fields["id"] else { return nil }
            return id
        }
    }

    /// One scenario, from a file or in Swift.
    struct Scenario: Sendable, CustomTestStringConvertible {
        let id: String
        let title: String
        let resources: [String: ScriptResource]
        let server: [String: ScriptValue]
        let preload: [String: [Range<Int64>]]
        let streams: [String: ScriptStream]
        let steps: [ScriptValue]

        var testDescription: String { "\(id): \(title)" }

        /// A scenario in Swift.
        init(
            _ id: String, _ title: String, resources: [ScriptResource], server: [String: [ScriptServer.Setting]] = [:],
            preload: [String: [Range<Int64>]] = [:], steps: [ScriptStep]
        ) {
            self.id = id
            self.title = title
            self.resources = Dictionary(uniqueKeysWithValues: resources.map { ($0.name, $0) })
            self.server = server.mapValues(ScriptServer.Setting.patch)
            self.preload = preload
            streams = [:]
            self.steps = steps.map(\.value)
        }

        /// A scenario of a file; messages begin with `name`.
        init(_ value: ScriptValue, named name: String) throws {
            var fields = try ScriptFields(value, name)
            id = try fields.require(fields.text("id"), "id")
            title = try fields.text("title") ?? ""
            for name in ["profile", "confidence", "evidence", "why", "sources"] { _ = fields.value(name) }
            let place = id
            streams = try (fields.object("streams") ?? [:]).reduce(into: [:]) { all, entry in
                all[entry.key] = try ScriptStream(entry.value, "\(place), stream \(entry.key)")
            }
            // A scenario of streams needs no files.
            let files = try fields.object("resources") ?? (streams.isEmpty ? nil : [:])
            resources = try fields.require(files, "resources").reduce(into: [:]) { all, entry in
                all[entry.key] = try ScriptResource(entry.value, name: entry.key, "\(place), resource \(entry.key)")
            }
            server = try fields.object("server") ?? [:]
            preload = try (fields.object("preload") ?? [:]).mapValues { value in
                var one = try ScriptFields(.object(["ranges": value]), "\(place), preload")
                return try one.ranges("ranges") ?? []
            }
            steps = try fields.require(fields.list("steps"), "steps")
            try fields.finish()
        }

        /// Whether it is played by the HLS player model, through the proxy in the process.
        var isOfStreams: Bool { !streams.isEmpty || steps.contains { $0.isOfStreams } }
    }

    extension ScriptValue {
        /// Whether this step, or one in it, begins with `hls`.
        fileprivate var isOfStreams: Bool {
            switch self {
            case .object(let fields):
                if case .text(let op)? = fields["op"], op.hasPrefix("hls") { return true }
                return [fields["steps"], fields["options"]].contains { $0?.isOfStreams == true }
            case .list(let values): return values.contains { $0.isOfStreams }
            default: return false
            }
        }
    }

    /// A file at the origin.
    struct ScriptResource: Sendable {
        let name: String
        let mime: String?
        let uti: String?
        let pathExtension: String
        let head: [UInt8]
        let length: Int64

        var path: String { "/media/\(name)" + (pathExtension.isEmpty ? "" : ".\(pathExtension)") }

        /// `head` names the first bytes of a kind of file.
        init(name: String, mime: String?, uti: String?, pathExtension: String, head: String, length: Int64) {
            self.name = name
            self.mime = mime
            self.uti = uti
            self.pathExtension = pathExtension
            self.head = Self.head(head)
            self.length = length
        }

        init(_ value: ScriptValue, name: String, _ place: String) throws {
            var fields = try ScriptFields(value, place)
            self.init(
                name: name, mime: try fields.text("mime"), uti: try fields.text("uti"),
                pathExtension: try fields.text("ext") ?? "", head: try fields.text("head") ?? "",
                length: try fields.require(fields.int("length"), "length"))
            _ = fields.value("layout")
            try fields.finish()
        }

        /// Whether it may change while an asset of it lives.
        var isPlaylist: Bool { uti == "public.m3u-playlist" }

        /// The seed of the bytes of one version.
        func seed(_ version: Int64) -> UInt64 {
            name.utf8.reduce(UInt64(bitPattern: version)) { $0 &* 31 &+ UInt64($1) }
        }

        /// The bytes of one version at the origin.
        func bytes(_ range: Range<Int64>, version: Int64) -> [UInt8] {
            var bytes = TestPattern.bytes(in: range, seed: seed(version))
            for position in range.clamped(to: 0..<Int64(head.count)) {
                bytes[Int(position - range.lowerBound)] = head[Int(position)]
            }
            return bytes
        }

        /// The first bytes of a file of a kind.
        private static func head(_ name: String) -> [UInt8] {
            func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }
            switch name {
            case "ID3": return ascii("ID3") + [4, 0, 0, 0, 0, 0, 0]
            case _ where name.hasPrefix("ftyp-"):
                let brand = ascii(String(name.dropFirst(5)).padding(toLength: 4, withPad: " ", startingAt: 0))
                return [0, 0, 0, 24] + ascii("ftyp") + brand + [0, 0, 2, 0] + brand + ascii("mp42")
            case "RIFF", "RIFF-WAVE", "WAVE": return ascii("RIFF") + [0, 0, 0, 0] + ascii("WAVEfmt ")
            case "FORM-AIFF", "AIFF": return ascii("FORM") + [0, 0, 0, 0] + ascii("AIFFCOMM")
            case "html": return ascii("<!DOCTYPE html><html>")
            default: return ascii(name)
            }
        }
    }
#endif
