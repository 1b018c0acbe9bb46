import Foundation
import Primitives
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What a name that is given with `--output` may stand for.
enum OutputPlace: String, CaseIterable, Sendable {
    case newFile, regularFile, readOnlyFile, symlink, danglingSymlink
    case pipe, terminal, standardOutput, linkToStandardOutput, nameOfDescriptor
    case socket, directory, readOnlyDirectory, missingDirectory
    /// A device like `/dev/null`, under another name.
    case nullDevice

    /// Those that can be made here: devices take root, and a kernel whose numbers are known.
    static var available: [OutputPlace] {
        #if os(Linux)
            geteuid() == 0 ? allCases : allCases.filter { $0 != .nullDevice }
        #else
            allCases.filter { $0 != .nullDevice }
        #endif
    }

    /// Whether there is a regular file of the user's, which is replaced only on demand.
    var isOccupied: Bool { [.regularFile, .readOnlyFile, .symlink].contains(self) }
    /// Whether nothing can be written there.
    var isImpossible: Bool { [.socket, .directory, .readOnlyDirectory, .missingDirectory].contains(self) }
    /// Whether the bytes come out of the program's standard output.
    var isStandardOutput: Bool {
        [.standardOutput, .linkToStandardOutput, .nameOfDescriptor].contains(self)
    }
}

/// An ``OutputPlace`` in a directory of its own, beside files of the user's that no command may touch.
final class PreparedPlace {
    static let old = Array("what the user had".utf8)

    let place: OutputPlace
    /// What follows `--output`.
    let path: String
    private let folder: String
    private var reader: ChildProcess?
    private var terminal: PseudoTerminal?
    private var socket: Int32?

    init(_ place: OutputPlace, in directory: String) throws {
        self.place = place
        folder = directory
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let name = "\(folder)/film.mp4"
        try Data(Self.old).write(to: URL(fileURLWithPath: name + ".part"))
        switch place {
        case .standardOutput: path = "-"
        // Never the device itself, over which a fault would rename a file.
        case .linkToStandardOutput: path = try Self.linkToStandardOutput(in: folder)
        case .nameOfDescriptor: path = Self.standardOutput
        case .missingDirectory: path = "\(folder)/no/film.mp4"
        // Where even root makes no file.
        case .readOnlyDirectory: path = geteuid() == 0 ? "/proc/film.mp4" : "\(folder)/closed/film.mp4"
        case .terminal:
            let terminal = try PseudoTerminal()
            self.terminal = terminal
            path = terminal.path
        default: path = name
        }
        try make(name)
    }

    /// Where no file can be made, by no fault.
    #if os(Linux)
        private static let standardOutput = "/proc/self/fd/1"
    #else
        private static let standardOutput = "/dev/fd/1"
    #endif

    /// Major number 1 and minor number 3, as Linux writes them.
    private static let nullDevice: dev_t = 1 << 8 | 3

    /// What `/dev/stdout` is, in `directory`; returns its path.
    static func linkToStandardOutput(in directory: String) throws -> String {
        let path = "\(directory)/stdout"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: standardOutput)
        return path
    }

    private func make(_ name: String) throws {
        let files = FileManager.default
        switch place {
        case .regularFile: try Data(Self.old).write(to: URL(fileURLWithPath: name))
        case .readOnlyFile:
            try Data(Self.old).write(to: URL(fileURLWithPath: name))
            #expect(chmod(name, 0o444) == 0)
        case .symlink:
            try files.createDirectory(atPath: "\(folder)/elsewhere", withIntermediateDirectories: false)
            try Data(Self.old).write(to: URL(fileURLWithPath: "\(folder)/elsewhere/target"))
            try files.createSymbolicLink(atPath: name, withDestinationPath: "elsewhere/target")
        case .danglingSymlink: try files.createSymbolicLink(atPath: name, withDestinationPath: "target")
        case .pipe:
            #expect(mkfifo(name, 0o600) == 0)
            reader = try ChildProcess("/bin/cat", [name])
        case .nullDevice:
            #if os(Linux)
                #expect(mknod(name, S_IFCHR | 0o666, Self.nullDevice) == 0)
            #endif
        case .socket: socket = try UnixAddress.bind(name.utf8)
        case .directory: try files.createDirectory(atPath: name, withIntermediateDirectories: false)
        case .readOnlyDirectory where geteuid() != 0:
            try files.createDirectory(
                atPath: "\(folder)/closed", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o555])
        default: break
        }
    }

    /// Whether what the name stood for is what it was, with `content` in it, or, if that is `nil`, with what was in it.
    func check(_ content: [UInt8]?, _ outcome: ChildProcess.Outcome) async throws {
        let expected = content ?? Self.old
        switch place {
        case .newFile:
            let isThere = FileManager.default.fileExists(atPath: path)
            #expect(isThere == (content != nil))
            if isThere { #expect(try holds(path, expected)) }
        case .regularFile: #expect(try holds(path, expected))
        case .readOnlyFile:
            #expect(try holds(path, expected))
            #expect(Self.mode(path) & 0o7777 == 0o444)
        case .symlink:
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "elsewhere/target")
            #expect(try holds("\(folder)/elsewhere/target", expected))
        case .danglingSymlink:
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "target")
            let target = "\(folder)/target"
            #expect(FileManager.default.fileExists(atPath: target) == (content != nil))
            if content != nil { #expect(try holds(target, expected)) }
        case .pipe:
            #expect(Self.mode(path) & S_IFMT == S_IFIFO)
            let read = try await received()
            if content != nil { #expect(read == expected) }
        case .terminal:
            #expect(Self.mode(path) & S_IFMT == S_IFCHR)
            let shown = await terminal?.close() ?? []
            if content != nil { #expect(shown == expected) }
        case .standardOutput, .linkToStandardOutput, .nameOfDescriptor:
            if place == .linkToStandardOutput {
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == Self.standardOutput)
            }
            if content != nil { #expect(outcome.output.utf8.elementsEqual(expected)) }
        case .nullDevice:
            var status = stat()
            #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
            #expect(status.st_rdev == Self.nullDevice)
        case .socket: #expect(Self.mode(path) & S_IFMT == S_IFSOCK)
        case .directory: #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        case .readOnlyDirectory, .missingDirectory: #expect(!FileManager.default.fileExists(atPath: path))
        }
        #expect(try holds("\(folder)/film.mp4.part", Self.old))
        #expect(try leftovers().isEmpty)
    }

    /// Ends what was opened.
    func close() async {
        reader?.send(SIGKILL)
        _ = await terminal?.close()
        if let socket { closeDescriptor(socket) }
    }

    /// What came out of the pipe.
    private func received() async throws -> [UInt8] {
        guard let reader else { return [] }
        // Where no program opened the pipe, its reader still waits for one.
        let writer = open(path, O_WRONLY | O_NONBLOCK)
        if writer >= 0 { closeDescriptor(writer) }
        return await Array(reader.outcome().output.utf8)
    }

    /// Files that no user made.
    private func leftovers() throws -> [String] {
        let own = ["film.mp4", "film.mp4.part", "target", "elsewhere", "elsewhere/target", "closed", "stdout"]
        return try FileManager.default.subpathsOfDirectory(atPath: folder).filter { !own.contains($0) }
    }

    private func holds(_ path: String, _ bytes: [UInt8]) throws -> Bool {
        try Data(contentsOf: URL(fileURLWithPath: path)) == Data(bytes)
    }

    private static func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode : 0
    }

}

private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }

/// A terminal that shows nothing and keeps what is written to it.
final class PseudoTerminal: Sendable {
    /// The device.
    let path: String
    private let master: Int32
    private let device: Int32
    private let state = Mutex((bytes: [UInt8](), isClosed: false))
    private let end: AsyncStream<Never>

    init() throws {
        var ends = (master: Int32(-1), device: Int32(-1))
        try #require(openpty(&ends.master, &ends.device, nil, nil, nil) == 0)
        (master, device) = ends
        path = try String(cString: #require(ttyname(device)))
        var settings = termios()
        #expect(tcgetattr(device, &settings) == 0)
        cfmakeraw(&settings)
        #expect(tcsetattr(device, TCSANOW, &settings) == 0)
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        end = stream
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(master, &buffer, buffer.count)
                guard count > 0 else { break }
                state.withLock { $0.bytes += buffer[..<count] }
            }
            continuation.finish()
        }
    }

    deinit {
        closeDescriptor(master)
    }

    /// All that was written; nothing can be afterwards.
    func close() async -> [UInt8] {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        // Without any writer the reader comes to its end.
        if isFirst {
            closeDescriptor(device)
            for await _ in end {}
        }
        return state.withLock { $0.bytes }
    }
}

/// A terminal that takes no byte, as after Control-S: a write waits for ever.
///
/// One that is merely full is not enough: the kernel moves what waits to the other end in its own time, and a few bytes
/// more find room.
final class StoppedTerminal: Sendable {
    /// The device.
    let path: String
    private let master: Int32
    private let device: Int32

    init() throws {
        var ends = (master: Int32(-1), device: Int32(-1))
        try #require(openpty(&ends.master, &ends.device, nil, nil, nil) == 0)
        (master, device) = ends
        path = try String(cString: #require(ttyname(device)))
        #expect(tcflow(device, TCOOFF) == 0)
    }

    func close() {
        closeDescriptor(device)
        closeDescriptor(master)
    }
}
