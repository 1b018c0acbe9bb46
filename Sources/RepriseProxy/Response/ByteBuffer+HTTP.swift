import HTTPTypes
import NIOCore
import NIOHTTP1

extension ByteBuffer {
    mutating func writeStatusLine(_ status: Int) {
        writeString("HTTP/1.1 \(status) \(HTTPResponseStatus(statusCode: status).reasonPhrase)\r\n")
    }

    mutating func writeField(_ field: HTTPField) {
        writeString(field.name.rawName)
        writeStaticString(": ")
        field.withUnsafeBytesOfValue { _ = writeBytes($0) }
        writeStaticString("\r\n")
    }

    /// Writes `beginning`, `number` and the end of the line.
    mutating func writeLine(_ beginning: StaticString, number: Int64) {
        writeStaticString(beginning)
        writeDecimal(number)
        writeStaticString("\r\n")
    }

    /// Writes `number`, which must not be negative, in decimal digits.
    mutating func writeDecimal(_ number: Int64) {
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
        var rest = number.magnitude
        withUnsafeMutableBytes(of: &digits) { buffer in
            var index = buffer.count
            repeat {
                index -= 1
                buffer[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            writeBytes(UnsafeRawBufferPointer(rebasing: buffer[index...]))
        }
    }
}
