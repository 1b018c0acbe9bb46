#if os(Linux)
    import Glibc
    import RepriseTesting
    import TestLimits
    import Testing

    @testable import Reprise

    @Suite(.limit(minutes: 1))
    struct PunchedPagesTests {
        /// If the device reads ahead by 2 MiB and more (`read_ahead_kb`), the system has pages of 2 MiB; otherwise this
        /// test cannot fail.
        @Test("Bytes of a data file in a pipe or socket are unchanged when their extent is punched")
        func pagesUnderWay() throws {
            let directory = try TemporaryDirectory()
            let file = try DataFile(path: directory.path(of: "data"), create: true, in: SystemFileSystem())
            let extent = FetchSchedule.extent
            let descriptor = try file.open().descriptor
            let bytes = TestPattern.bytes(in: 0..<4 * extent, seed: 1)
            // A reader near holes makes the system read ahead into them.
            try [UInt8](1...1).withUnsafeBytes { try file.write($0, at: 64 * extent) }
            for part in 0..<128 { _ = try file.read(at: Int64(part) * extent / 8, count: Int(extent / 8)) }
            try bytes.withUnsafeBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: 16 << 10) {
                    let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<start + (16 << 10)])
                    try file.write(piece, at: 20 * extent + Int64(start))
                }
            }
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            defer { for end in ends { close(end) } }
            for index in 0..<4 {
                let start = 20 * extent + Int64(index) * extent
                var offset = off_t(start)
                #expect(sendfile(ends[1], descriptor, &offset, 32 << 10) == 32 << 10)
                #expect(file.punch(start..<start + extent))
                var received = [UInt8](repeating: 0, count: 32 << 10)
                #expect(read(ends[0], &received, received.count) == received.count)
                let first = index * Int(extent)
                #expect(received.elementsEqual(bytes[first..<first + (32 << 10)]))
            }
        }
    }
#endif
