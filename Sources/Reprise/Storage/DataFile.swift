/// The sparse file of one generation: offset in the file = offset in the representation.
///
/// The descriptor lives as long as this object, so a piece that is on its way to a socket stays readable after the
/// file's name is gone.
package final class DataFile: Sendable {
    /// The open descriptor, for `sendfile`.
    ///
    /// Valid while the object lives.
    package var descriptor: Int32 { file.descriptor }
    /// Where the file lies.
    package let path: String
    /// What is being read of it.
    let leases = LeaseTable()
    private let file: any OpenFile

    /// Opens the file at `path`, creating it if `create` says so; missing directories are made then.
    ///
    /// One that must not be written is opened for reading: writes to it fail.
    init(path: String, create: Bool, in fileSystem: any FileSystem) throws(RepriseError) {
        self.path = path
        do throws(SystemError) {
            file = try Self.open(path, create, fileSystem)
        } catch {
            throw RepriseError(.storageUnavailable, "Cannot open \(path).", cause: error)
        }
    }

    private static func open(
        _ path: String, _ create: Bool, _ fileSystem: any FileSystem
    ) throws(SystemError) -> any OpenFile {
        do throws(SystemError) {
            return try fileSystem.open(path, create: create)
        } catch {
            if !create, error.forbidsWriting { return try fileSystem.open(readOnly: path) }
            guard create, error.isMissingFile, let slash = path.lastIndex(of: "/") else { throw error }
            try fileSystem.makeDirectory(String(path[..<slash]))
            return try fileSystem.open(path, create: true)
        }
    }

    /// Writes all of `bytes` at `offset`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RepriseError) {
        var done = 0
        while done < bytes.count {
            do throws(SystemError) {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                let count = try file.write(rest, at: offset + Int64(done))
                guard count > 0 else { throw SystemError.noRoom }
                done += count
            } catch {
                throw RepriseError(.storageUnavailable, "Cannot write \(path).", cause: error)
            }
        }
    }

    /// Reads up to `count` bytes at `offset` into fresh memory; fewer only at the end of the file.
    package func read(at offset: Int64, count: Int) throws(RepriseError) -> [UInt8] {
        var failure: RepriseError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(RepriseError) {
                initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Fills `buffer` with the bytes at `offset` and returns how many they are: fewer only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(RepriseError) -> Int {
        var count = 0
        while count < buffer.count {
            do throws(SystemError) {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                let got = try file.read(into: rest, at: offset + Int64(count))
                if got == 0 { break }
                count += got
            } catch {
                throw RepriseError(.storageUnavailable, "Cannot read \(path).", cause: error)
            }
        }
        return count
    }

    /// Fills `buffer` with the bytes at `offset` if all of them are in memory; false if the disk would have to be waited
    /// for, or the file is shorter.
    func readResident(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(RepriseError) -> Bool {
        var count = 0
        while count < buffer.count {
            do throws(SystemError) {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                guard let got = try file.readResident(into: rest, at: offset + Int64(count)), got > 0 else {
                    return false
                }
                count += got
            } catch {
                throw RepriseError(.storageUnavailable, "Cannot read \(path).", cause: error)
            }
        }
        return true
    }

    /// Gives the blocks in `range` back to the disk; false if the file system cannot.
    func punch(_ range: Range<Int64>) -> Bool {
        do throws(SystemError) { try file.punch(range) } catch { return false }
        return true
    }

    /// Gives everything back: the name is gone, and nobody reads any more, but somebody may still hold the descriptor.
    func empty() { try? file.truncate(to: 0) }

    /// Sizes; `nil` if the file cannot be asked.
    var status: FileStatus? { try? file.status() }
}
