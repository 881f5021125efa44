import { requiredText } from './input-shapes.ts'

/** RFC 6749, section 3.3: so that a permission may be a scope too. */
const TOKEN_SYNTAX = /^[\x21\x23-\x5b\x5d-\x7e]+$/
/** The name of a permission or of a role. */
export const tokenName = requiredText(100).regex(
  TOKEN_SYNTAX,
  'must be ASCII characters without spaces, quotation marks and backslashes',
)
