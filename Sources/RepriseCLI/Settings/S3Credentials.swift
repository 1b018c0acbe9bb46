import Foundation
import Primitives
import Reprise

/// The credentials of a section `[host NAME]` for S3: from AWS's variables, or from a file in the format of
/// `~/.aws/credentials`.
///
/// Temporary credentials expire, so the file is read again before a request, at most every 5 s. If it has become wrong,
/// the earlier credentials stay in use.
final class S3Credentials: Sendable {
    /// What a setting says, and its place for messages.
    typealias Given = (text: String, place: String)

    private struct State {
        var credentials: SigningOrigin.Credentials
        var readAt: Duration
        /// Why the file cannot be used, if that has been printed.
        var problem: String?
    }

    private static let rereadInterval = Duration.seconds(5)

    private let clock: CacheClock
    private let read: @Sendable () throws -> SigningOrigin.Credentials
    private let state: Mutex<State>

    /// Reads the credentials once.
    ///
    /// `section` is its place for messages. Throws a reason with code 64, which shows no secret.
    init(
        file: Given?, profile: Given?, region: Given?, section: String, environment: [String: String],
        clock: CacheClock = .system
    ) throws {
        guard let region = region?.text ?? environment["AWS_REGION"], Self.isRegion(region) else {
            throw ConfigurationFile.reason("\(section) has no region. Add s3-region, or set AWS_REGION.")
        }
        guard file != nil || profile == nil else {
            throw ConfigurationFile.reason("\(profile?.place ?? section) is of no use without s3-credentials-file.")
        }
        read = {
            guard let file else {
                guard let credentials = Self.credentials(in: region, { environment[$0.uppercased()] }) else {
                    throw ConfigurationFile.reason(
                        "\(section) has no credentials. Add s3-credentials-file, or set AWS_ACCESS_KEY_ID and "
                            + "AWS_SECRET_ACCESS_KEY.")
                }
                return credentials
            }
            let bytes = try PrivateFile.read(file.text, for: file.place, content: "access keys of AWS")
            let (name, place) = profile ?? ("default", file.place)
            guard let values = Self.profile(name, in: bytes) else {
                throw ConfigurationFile.reason("\(place): \(file.text.printable) has no profile [\(name.printable)].")
            }
            guard let credentials = Self.credentials(in: region, { values[$0] }) else {
                throw ConfigurationFile.reason(
                    "\(place): The profile [\(name.printable)] of \(file.text.printable) needs aws_access_key_id and "
                        + "aws_secret_access_key.")
            }
            return credentials
        }
        self.clock = clock
        state = Mutex(State(credentials: try read(), readAt: clock.elapsed()))
    }

    /// The credentials to use now.
    func current() async -> SigningOrigin.Credentials {
        let now = clock.elapsed()
        let isDue = state.withLock { state in
            guard now - state.readAt >= Self.rereadInterval else { return false }
            state.readAt = now
            return true
        }
        if isDue { await DiskQueue.shared.run { [self] in readAgain() } }
        return state.withLock(\.credentials)
    }

    private func readAgain() {
        do {
            let credentials = try read()
            state.withLock { ($0.credentials, $0.problem) = (credentials, nil) }
        } catch {
            let problem = Failure.reason(error)?.message ?? "\(error)"
            let isNew = state.withLock { state in
                defer { state.problem = problem }
                return state.problem != problem
            }
            if isNew { Terminal.error("reprise: \(problem) The earlier credentials stay in use.") }
        }
    }

    // MARK: - Texts

    /// Whether `text` can be the name of a region, also of a service other than AWS.
    static func isRegion(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }

    /// The settings of a profile; `nil` if `bytes` has none of that name.
    private static func profile(_ name: String, in bytes: [UInt8]) -> [String: String]? {
        var values: [String: String]?
        var isInProfile = false
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("[") {
                isInProfile = line.dropFirst().prefix { $0 != "]" }.trimmingCharacters(in: .whitespaces) == name
                if isInProfile, values == nil { values = [:] }
            } else if isInProfile, let equals = line.firstIndex(of: "=") {
                // Keys have no blanks; a comment may follow one.
                let value = line[line.index(after: equals)...].split(whereSeparator: \.isWhitespace).first
                values?[line[..<equals].trimmingCharacters(in: .whitespaces).lowercased()] = value.map(String.init)
            }
        }
        return values
    }

    /// The credentials of which `value` returns the parts, by their names in a profile; `nil` if a key is missing.
    private static func credentials(in region: String, _ value: (String) -> String?) -> SigningOrigin.Credentials? {
        func key(_ name: String) -> String? {
            value(name).flatMap { text in
                !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? text : nil
            }
        }
        guard let id = key("aws_access_key_id"), let secret = key("aws_secret_access_key") else { return nil }
        return SigningOrigin.Credentials(
            accessKeyID: id, secretAccessKey: secret, sessionToken: key("aws_session_token"), region: region)
    }
}
