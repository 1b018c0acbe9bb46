package import Foundation
package import Reprise

/// Something that a client may have done: `POST /-/api/NAME`, with its values as JSON.
package protocol ControlCommand: Codable, Sendable {
    /// How far it is, as long as it goes on.
    associatedtype Progress: Codable, Sendable = NoProgress
    /// What was done.
    associatedtype Outcome: Codable, Sendable

    /// Its name in paths.
    static var name: String { get }
}

/// Something that a client may have done to the cache of this server.
///
/// The command does the same to a cache that it opens itself.
package protocol ControlOperation: ControlCommand {
    /// Whether lists of titles are read again after it, at once; false by default.
    static var editsTitles: Bool { get }

    /// Does it.
    ///
    /// Ends early, in good order, when the task is canceled. Throws ``RepriseError`` or `CancellationError`.
    func run(in cache: MediaCache, progress: @escaping @Sendable (Progress) -> Void) async throws -> Outcome

    /// Does it, and hands on the bytes that it is about, if those are wanted.
    ///
    /// `body` returns once a piece has been taken. By default there are no bytes.
    func run(
        in cache: MediaCache, progress: @escaping @Sendable (Progress) -> Void,
        body: @escaping @Sendable ([UInt8]) async throws -> Void
    ) async throws -> Outcome
}

extension ControlOperation {
    package static var editsTitles: Bool { false }

    package func run(
        in cache: MediaCache, progress: @escaping @Sendable (Progress) -> Void,
        body: @escaping @Sendable ([UInt8]) async throws -> Void
    ) async throws -> Outcome {
        try await run(in: cache, progress: progress)
    }
}

/// The progress of an operation that is soon done.
package struct NoProgress: Codable, Sendable {}

/// The outcome of an operation that has nothing to tell.
package struct NoOutcome: Codable, Sendable {
    /// Creates it.
    package init() {}
}

/// A line of the answer to an operation, or to another command.
package enum ControlLine<Operation: ControlCommand>: Sendable {
    /// How far it is.
    case progress(Operation.Progress)
    /// The next bytes that it is about, in base64.
    case body(Data)
    /// What was done; the last line.
    case outcome(Operation.Outcome)
    /// Why it could not be done; the last line.
    case failure(RepriseError)
    /// It was ended before it was done; the last line.
    case canceled
}

extension ControlLine: Codable {
    private enum Member: String, CodingKey { case progress, body, outcome, error, code, status }

    /// The code in JSON of what was ended.
    private static var canceledCode: String { "canceled" }

    package init(from decoder: any Decoder) throws {
        let line = try decoder.container(keyedBy: Member.self)
        if line.contains(.progress) {
            self = .progress(try line.decode(Operation.Progress.self, forKey: .progress))
        } else if line.contains(.body) {
            self = .body(try line.decode(Data.self, forKey: .body))
        } else if line.contains(.outcome) {
            self = .outcome(try line.decode(Operation.Outcome.self, forKey: .outcome))
        } else {
            let code = try line.decode(String.self, forKey: .code)
            let message = try line.decode(String.self, forKey: .error)
            let status = try line.decodeIfPresent(Int.self, forKey: .status)
            self =
                code == Self.canceledCode
                ? .canceled : .failure(RepriseError(reported: code, message, status: status))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var line = encoder.container(keyedBy: Member.self)
        switch self {
        case .progress(let progress): try line.encode(progress, forKey: .progress)
        case .body(let bytes): try line.encode(bytes, forKey: .body)
        case .outcome(let outcome): try line.encode(outcome, forKey: .outcome)
        case .failure(let error):
            try line.encode(error.explanation, forKey: .error)
            try line.encode("\(error.code)", forKey: .code)
            try line.encodeIfPresent(error.statusCode, forKey: .status)
        case .canceled:
            try line.encode("It was stopped.", forKey: .error)
            try line.encode(Self.canceledCode, forKey: .code)
        }
    }
}

extension ControlCommand {
    /// The command that `body` describes.
    ///
    /// Throws a failure for what is no JSON, has the wrong types, or has members that the command does not know.
    static func parse(_ body: [UInt8]) throws -> Self {
        let data = Data(body)
        let operation: Self
        do { operation = try JSONDecoder().decode(Self.self, from: data) } catch {
            throw ControlFailure(400, "The body is not the JSON of \(name): \(reason(error)).")
        }
        // What is read back has every member that is known; one that is null says nothing.
        let known = Set(try members(of: try JSONEncoder().encode(operation)).keys)
        let unknown = try members(of: data).filter { !($0.value is NSNull) && !known.contains($0.key) }
        if let member = unknown.keys.min() {
            throw ControlFailure(400, "\(name) has no member \"\(member.prefix(32))\".")
        }
        return operation
    }

    private static func members(of data: Data) throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        guard let members = value as? [String: Any] else {
            throw ControlFailure(400, "The body of \(name) is no object.")
        }
        return members
    }

    private static func reason(_ error: any Error) -> String {
        func place(_ context: DecodingError.Context) -> String {
            context.codingPath.map(\.stringValue).joined(separator: ".")
        }
        switch error as? DecodingError {
        case .keyNotFound(let key, _): return "\"\(key.stringValue)\" is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            return context.codingPath.isEmpty ? "it is no object" : "\"\(place(context))\" has the wrong type"
        default: return "it cannot be parsed"
        }
    }
}
