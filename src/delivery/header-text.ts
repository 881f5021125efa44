/**
 * Text of a header in one line. What looks like an encoded word (RFC 2047, section 2) is broken: mail programs would
 * decode it, and show characters that names must not have.
 */
export const toHeaderText = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').replace(/=(?=\?)/g, '= ')
