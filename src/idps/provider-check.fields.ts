import * as z from 'zod'
import { PROVIDER_CAUSE_NAMES, type ProviderCause } from '../core/provider-causes.ts'

/** What a test of a provider asks, in its order. */
export const PROVIDER_CHECKS = {
  fields: 'Whether a field is missing.',
  discovery: 'Whether the metadata of the issuer can be read and names the issuer.',
  keys: 'Whether there are keys that verify ID tokens.',
  authorization: 'Whether there is an authorization endpoint.',
  token: 'Whether there is a token endpoint.',
  userinfo: 'Whether there is a userinfo endpoint.',
  client: 'Whether the token endpoint accepts client id and secret.',
} as const
export type ProviderCheck = keyof typeof PROVIDER_CHECKS

export const FINDING_STATUSES = {
  passed: 'It is as a sign-in needs it.',
  failed: 'A sign-in fails.',
  unknown: 'The provider does not tell, or a sign-in does not need it.',
} as const
export type FindingStatus = keyof typeof FINDING_STATUSES

export type Finding = {
  check: ProviderCheck
  status: FindingStatus
  /** Of a failed check: as `signin.failed` names it. */
  cause: ProviderCause | null
  description: string
}
export type ProviderTest = { succeeded: boolean; findings: Finding[] }

export const SUCCEEDED_DESCRIPTION = 'Whether no check failed.'

const toNames = <Name extends string>(table: Record<Name, string>) => Object.keys(table) as [Name, ...Name[]]

/** Input of testIdentityProvider: it has no members. */
export const ProviderTestInput = z
  .strictObject({}, 'must be an object')
  .meta({ id: 'IdentityProviderTestRequest', description: 'The body may be omitted.' })

/** The findings of a test as REST returns them. */
export const ProviderTestShape = z
  .object({
    succeeded: z.boolean().meta({ description: SUCCEEDED_DESCRIPTION, example: false }),
    findings: z
      .array(
        z
          .object({
            check: z
              .enum(toNames(PROVIDER_CHECKS))
              .meta({ description: 'What was asked.', example: 'client' }),
            status: z.enum(toNames(FINDING_STATUSES)).meta({
              description: 'passed, failed, or unknown where the provider does not tell.',
              example: 'failed',
            }),
            cause: z.enum(PROVIDER_CAUSE_NAMES).nullable().meta({
              description: 'Of a failed check, the cause as signin.failed names it.',
              example: 'invalid_client',
            }),
            description: z.string().meta({
              description: 'What was found, in words.',
              example: 'The provider does not accept client id and secret.',
            }),
          })
          .meta({ id: 'IdentityProviderFinding', description: 'What a test found.' }),
      )
      .meta({ description: 'One for each check, in their order.' }),
  })
  .meta({ id: 'IdentityProviderTest', description: 'The findings of a test of an identity provider.' })
