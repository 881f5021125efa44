import * as z from 'zod'
import { PROVIDER_CAUSES, type ProviderCause } from '../model/provider-causes.ts'
import { defineEnum } from '../schema/enums.ts'

/** The checks of a test, in their order. */
const CHECK = defineEnum('IdentityProviderCheck', 'What a test of an identity provider asks.', {
  fields: 'Whether a field is missing.',
  discovery: 'Whether the metadata of the issuer can be read and names the issuer.',
  keys: 'Whether there are keys that verify ID tokens.',
  authorization: 'Whether there is an authorization endpoint.',
  token: 'Whether there is a token endpoint.',
  userinfo: 'Whether there is a userinfo endpoint.',
  client: 'Whether the token endpoint accepts client id and secret.',
})
export type ProviderCheck = (typeof CHECK.values)[number]

const STATUS = defineEnum('IdentityProviderFindingStatus', 'The result of a check.', {
  passed: 'It is as a sign-in needs it.',
  failed: 'A sign-in fails.',
  unknown: 'The provider does not tell, or a sign-in does not need it.',
})

const CAUSE = defineEnum<ProviderCause>(
  'IdentityProviderCause',
  'Why a check, or a sign-in at an identity provider, fails.',
  Object.fromEntries(
    Object.entries(PROVIDER_CAUSES).map(([name, reason]) => [name, `\`${name}\`: ${reason}.`]),
  ) as Record<ProviderCause, string>,
)

/** Input of testIdentityProvider: it has no members. */
export const ProviderTestInput = z
  .strictObject({}, 'must be an object')
  .meta({ id: 'IdentityProviderTestRequest', description: 'The body may be omitted.' })

const FindingShape = z
  .object({
    check: CHECK.shape.meta({ description: 'What was asked.', example: 'client' }),
    status: STATUS.shape.meta({
      description: 'passed, failed, or unknown where the provider does not tell.',
      example: 'failed',
    }),
    cause: CAUSE.shape.nullable().meta({
      description: 'Of a failed check, the cause as signin.failed names it.',
      example: 'invalid_client',
    }),
    description: z.string().meta({
      description: 'What was found, in words.',
      example: 'The provider does not accept client id and secret.',
    }),
  })
  .meta({ id: 'IdentityProviderFinding', description: 'What a test of an identity provider found.' })
export type Finding = z.output<typeof FindingShape>

/** The findings of a test. */
export const ProviderTestShape = z
  .object({
    succeeded: z.boolean().meta({ description: 'Whether no check failed.', example: false }),
    findings: z.array(FindingShape).meta({ description: 'One for each check, in their order.' }),
  })
  .meta({ id: 'IdentityProviderTest', description: 'The findings of a test of an identity provider.' })
export type ProviderTest = z.output<typeof ProviderTestShape>
