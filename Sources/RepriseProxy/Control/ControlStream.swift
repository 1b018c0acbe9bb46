import NIOCore

/// Writes a body of unknown length piece by piece, each once the kernel has accepted the one before it.
struct ControlStream: Sendable {
    let writer: ResponseWriter
    /// Whether pieces are chunks; otherwise the body ends with the connection (RFC 9112 §6.3).
    let isChunked: Bool

    /// Sends the head.
    func begin(_ head: ByteBuffer) async throws { try await writer.write(head) }

    /// Sends a piece.
    ///
    /// May be called by several tasks; a piece is never torn.
    func send(_ piece: ByteBuffer) async throws {
        guard piece.readableBytes > 0 else { return }
        guard isChunked else {
            try await write(piece)
            return writer.meter.passed(piece.readableBytes)
        }
        var buffer = ByteBuffer()
        buffer.writeString("\(String(piece.readableBytes, radix: 16))\r\n")
        buffer.writeImmutableBuffer(piece)
        buffer.writeStaticString("\r\n")
        try await write(buffer)
        writer.meter.passed(piece.readableBytes)
    }

    /// Ends the body.
    func end() async throws { if isChunked { try await write(ByteBuffer(string: "0\r\n\r\n")) } }

    private func write(_ buffer: ByteBuffer) async throws {
        try await writer.channel.writeAndFlush(IOData.byteBuffer(buffer)).get()
    }
}
