import * as z from 'zod'
import { requiredText } from './input-shapes.ts'

/** RFC 6749, section 3.3: so that a permission may be a scope too. */
const TOKEN_SYNTAX = /^[\x21\x23-\x5b\x5d-\x7e]+$/
/** The name of a permission or of a role. */
export const tokenName = requiredText(100).regex(
  TOKEN_SYNTAX,
  'must be ASCII characters without spaces, quotation marks and backslashes',
)

/** The name of a role of the management API. Scopes have a colon, so that none is the name of a role. */
export const roleName = requiredText(50).regex(
  /^[a-z][a-z0-9_-]*$/,
  'must begin with a lower-case letter and have only those, digits, - and _',
)

/** Roles that are given at once. */
const MAX_ROLES = 20
export const roleNames = z
  .array(roleName, 'must be a list of roles')
  .max(MAX_ROLES, `must have at most ${MAX_ROLES} roles`)
