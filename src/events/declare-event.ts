import * as z from 'zod'
import { CREDENTIAL_TYPES } from '../model/credential-types.ts'
import { SECOND_FACTORS, SIGN_IN_METHODS } from '../model/sign-in-methods.ts'

export const method = z.enum([...SIGN_IN_METHODS, ...SECOND_FACTORS])
export const channel = z.enum(['email', 'sms'])
export const passcode = { channel, purpose: z.enum(['address-change', 'sign-up']).optional() }
export const consent = z.strictObject({
  scope: z.string(),
  claims: z.string().optional(),
  resources: z.string().optional(),
})
/** Null in events of earlier versions, which had passkeys only. */
export const credential = z.strictObject({ type: z.enum(CREDENTIAL_TYPES) }).nullable()
/** How a client was changed; null for a call by an administrator. */
export const by = z
  .strictObject({ by: z.enum(['administrator', 'registration', 'open-registration', 'document']) })
  .nullable()
/** `fault` is the error of an attempt without an HTTP status. */
export const logout = z.strictObject({
  attempts: z.int(),
  status: z.int().nullable(),
  fault: z.string().nullable(),
})
/**
 * The error that was sent to the client, or that its browser shows, and diagnostics that only the event log has: `member` is
 * the list of the client that lacks the `given` address or the `origin`.
 */
export const refused = z
  .object({
    error: z.string(),
    description: z.string(),
    endpoint: z.string().optional(),
    client_id: z.string().optional(),
    member: z.enum(['callbacks', 'allowedLogoutUrls', 'allowedOrigins']).optional(),
  })
  .catchall(z.union([z.string(), z.number(), z.boolean(), z.null()]))

export const NONE = z.null()

/** The type of GraphQL that has an event, which decides who may read it. */
export type View =
  | 'AuditEvent'
  | 'BulkJobEvent'
  | 'MembershipEvent'
  | 'OrganizationEvent'
  | 'SessionEvent'
  | 'UserLockEvent'

/**
 * Declares a type of event: what happened, the ids of its subjects in their order, and the schema of its detail. Subjects
 * that only some of the events have end with a question mark.
 */
export const event = <const Subjects extends readonly string[], Detail extends z.ZodType = z.ZodNull>(
  description: string,
  subjects: Subjects,
  detail: Detail = NONE as never,
  view: View = 'AuditEvent',
) => ({ description, subjects, detail, view })
