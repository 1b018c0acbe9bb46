// Their types appear in Reprise's declarations: a program that imports Reprise can use them (`MemberImportVisibility`).
@_exported public import ByteRanges
@_exported public import HTTPSemantics
@_exported public import HTTPTypes
