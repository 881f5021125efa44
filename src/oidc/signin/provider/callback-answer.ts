import * as z from 'zod'
import { seal, UnsealError, unseal } from '../../../core/crypto.ts'
import { InvalidInput } from '../../../core/errors.ts'

/** The parameters of an authorization response (RFC 6749, section 4.1.2; RFC 9207). */
export type CallbackAnswer = {
  state: string
  code: string | null
  error: string | null
  iss: string | null
  /** The name that Apple sends with the first answer only; not signed. */
  name?: { given_name?: string; family_name?: string }
}

const MAX_CODE_CHARACTERS = 4000
const MAX_STATE_CHARACTERS = 200
/** RFC 6749, section 4.1.2.1. The code of an error is recorded: other text is not. */
const ERROR_SYNTAX = /^[a-z0-9_.-]{1,60}$/i

const toText = (value: string | undefined, max: number): string | null =>
  value !== undefined && value.length <= max ? value : null

const AppleUser = z.object({
  name: z.object({ firstName: z.string().max(200).optional(), lastName: z.string().max(200).optional() }),
})

/** Reads the parameter `user` of Apple ("Authenticating users with Sign in with Apple"). */
function readAppleName(user: string | undefined): CallbackAnswer['name'] {
  try {
    const { firstName, lastName } = AppleUser.parse(JSON.parse(user ?? '')).name
    return { given_name: firstName, family_name: lastName }
  } catch {
    return undefined // absent, or not Apple's
  }
}

/** Reads the parameters of a callback. Too long ones are as if they were absent. */
export const readAnswer = (params: Record<string, string>): CallbackAnswer => ({
  state: toText(params.state, MAX_STATE_CHARACTERS) ?? '',
  code: toText(params.code, MAX_CODE_CHARACTERS),
  error: params.error === undefined ? null : ERROR_SYNTAX.test(params.error) ? params.error : 'invalid_error',
  iss: toText(params.iss, 2000),
  name: readAppleName(toText(params.user, 2000) ?? undefined),
})

/** A posted answer is opened at the callback of the provider that it was posted to. */
const toPurpose = (tenant: string, idpId: string): string => `provider-answer:${tenant}:${idpId}`

/**
 * Seals a posted answer for a redirect: browsers send the cookies of this server with a GET only
 * (SameSite=Lax), and the URL must show neither the code nor the name of the user.
 */
export const sealAnswer = (tenant: string, idpId: string, answer: CallbackAnswer): string =>
  seal(toPurpose(tenant, idpId), JSON.stringify(answer))

/** Opens a sealed answer. Throws InvalidInput for anything else. */
export function unsealAnswer(tenant: string, idpId: string, sealed: string): CallbackAnswer {
  try {
    return JSON.parse(unseal(toPurpose(tenant, idpId), sealed).toString()) as CallbackAnswer
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    throw new InvalidInput([{ field: 'answer', description: 'is not an answer of this server' }])
  }
}
