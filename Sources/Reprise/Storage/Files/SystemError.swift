/// An `errno` value with the system's description.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    package let code: Int32

    package init(_ code: Int32) { self.code = code }
}
