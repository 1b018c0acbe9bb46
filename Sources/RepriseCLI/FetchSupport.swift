import ArgumentParser
import Foundation
import HTTPTypes
import Reprise

/// Header fields from the command line.
struct HTTPFieldsBox {
    let fields: HTTPFields

    init(_ lines: [String]) throws {
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
        self.fields = fields
    }
}

/// One line of `fetch --json`.
///
/// Bytes; seconds.
struct FetchReport: Encodable {
    let url: String
    let state: String
    var bytes: Int64?
    var total: Int64?
    var fromStore: Int64?
    var seconds: Double?
    var error: String?
}

/// Shows how far a download is: a bar on a terminal, lines elsewhere.
struct FetchMeter {
    private let url: String
    var total: Int64?
    private let isJSON: Bool
    private let start = ContinuousClock.now
    private var lastShown: ContinuousClock.Instant?
    private var bytes: Int64 = 0

    init(url: String, total: Int64?, isJSON: Bool) {
        self.url = url
        self.total = total
        self.isJSON = isJSON
    }

    private var seconds: Double { (ContinuousClock.now - start) / .seconds(1) }

    mutating func note(_ count: Int, fromStore: Int64) throws {
        bytes += Int64(count)
        let interval: Duration = !isJSON && Terminal.isInteractive ? .milliseconds(100) : .seconds(2)
        guard ContinuousClock.now - (lastShown ?? start) >= interval else { return }
        lastShown = ContinuousClock.now
        if isJSON {
            try Terminal.printJSON(report("progress", fromStore))
        } else if Terminal.isInteractive {
            Terminal.replaceLine(bar(fromStore))
        } else {
            Terminal.error(line(fromStore))
        }
    }

    func clear() {
        if !isJSON, Terminal.isInteractive, lastShown != nil { Terminal.replaceLine("") }
    }

    func finish(fromStore: Int64) throws {
        clear()
        if isJSON { return try Terminal.printJSON(report("done", fromStore)) }
        let fetched = ByteCount(bytes - fromStore)
        print("\(name)  \(ByteCount(bytes)): \(fetched) fetched, \(ByteCount(fromStore)) from the store")
    }

    private func report(_ state: String, _ fromStore: Int64) -> FetchReport {
        FetchReport(url: url, state: state, bytes: bytes, total: total, fromStore: fromStore, seconds: seconds)
    }

    private var name: String {
        let path = url.prefix { $0 != "?" }
        return String(path.split(separator: "/").last ?? path)
    }

    private var rate: Double { Double(bytes) / max(seconds, 0.001) }

    private func line(_ fromStore: Int64) -> String {
        let of = total.map { " of \(ByteCount($0))" } ?? ""
        return "\(name)  \(ByteCount(bytes))\(of)  \(ByteCount(Int64(rate)))/s  \(ByteCount(fromStore)) from the store"
    }

    private func bar(_ fromStore: Int64) -> String {
        guard let total, total > 0 else { return String(line(fromStore).prefix(Terminal.width - 1)) }
        let remaining = Int(Double(total - bytes) / max(rate, 1))
        let padded = remaining % 60 < 10 ? "0\(remaining % 60)" : "\(remaining % 60)"
        let numbers =
            "\(bytes * 100 / total) %  \(ByteCount(bytes))/\(ByteCount(total))  \(ByteCount(Int64(rate)))/s"
            + "  ETA \(remaining / 60):\(padded)  store \(ByteCount(fromStore))"
        let width = Terminal.width - numbers.count - min(name.count, 24) - 7
        guard width >= 8 else { return String(numbers.prefix(Terminal.width - 1)) }
        return "\(name.prefix(24))  [\(Bar.progress(Double(bytes) / Double(total), width: width))]  \(numbers)"
    }
}

/// A file that appears under its name only when it is whole.
struct OutputFile {
    private let path: String
    private let temporary: String
    private let handle: FileHandle

    init(path: String) throws(RepriseError) {
        self.path = path
        temporary = path + ".part"
        guard FileManager.default.createFile(atPath: temporary, contents: nil),
            let handle = FileHandle(forWritingAtPath: temporary)
        else { throw RepriseError(.storageUnavailable, "Cannot write \(temporary).") }
        self.handle = handle
    }

    func write(_ bytes: [UInt8]) throws {
        do { try handle.write(contentsOf: Data(bytes)) } catch let error as RepriseError {
            throw error
        } catch {
            throw RepriseError(.storageUnavailable, "Cannot write \(temporary).", cause: error)
        }
    }

    func finish() throws {
        do {
            try handle.close()
            if rename(temporary, path) != 0 { throw CocoaError(.fileWriteUnknown) }
        } catch {
            throw RepriseError(.storageUnavailable, "Cannot write \(path).", cause: error)
        }
    }

    func discard() {
        try? handle.close()
        try? FileManager.default.removeItem(atPath: temporary)
    }
}
