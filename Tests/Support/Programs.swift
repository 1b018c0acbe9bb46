#if os(macOS) || os(Linux)
    import Foundation
    public import RepriseTesting

    extension TemporaryDirectory {
        /// Writes a program into the directory that can be started at once, and returns its path.
        ///
        /// Another process writes it: a file that any process has open for writing cannot be started, and children of
        /// other tests have for a moment what this process has open.
        public func writeProgram(_ text: String, to name: String) async throws -> String {
            let file = path(of: name)
            let outcome = try await ChildProcess.run(
                "/bin/sh", ["-c", #"printf '%s\n' "$1" > "$2" && chmod 755 "$2""#, "sh", text, file])
            guard outcome.exit == .status(0) else { throw CocoaError(.fileWriteUnknown) }
            return file
        }
    }
#endif
