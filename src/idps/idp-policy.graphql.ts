import { builder, type InputFields } from '../graphql/builder.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { COPY_TIMES, type CopyTime, IDP_ENTRIES, type IdpEntry } from './entry-policy.fields.ts'

const ENTRY_DESCRIPTIONS: Record<IdpEntry, string> = {
  linked: 'Users who are linked.',
  domains: 'Also new users with a verified address of `domains`.',
  anyone: 'Also new users.',
}
export const IdentityProviderEntry = builder.enumType('IdentityProviderEntry', {
  description: 'Who may enter by an identity provider.',
  values: Object.fromEntries(
    IDP_ENTRIES.map((name) => [name.toUpperCase(), { value: name, description: ENTRY_DESCRIPTIONS[name] }]),
  ) as Record<Uppercase<IdpEntry>, { value: IdpEntry; description: string }>,
})

const COPY_DESCRIPTIONS: Record<CopyTime, string> = {
  once: 'When the user is created.',
  always: 'At each sign-in.',
}
export const CopyTimeEnum = builder.enumType('CopyTime', {
  description: 'When claims of an identity provider are copied to the user.',
  values: Object.fromEntries(
    COPY_TIMES.map((name) => [name.toUpperCase(), { value: name, description: COPY_DESCRIPTIONS[name] }]),
  ) as Record<Uppercase<CopyTime>, { value: CopyTime; description: string }>,
})

const describe = (field: string) => findDescription('IdentityProvider', field)

/** The policy among the fields that creation and update share. */
export const buildPolicyInputFields = (t: InputFields) => ({
  entry: t.field({ type: IdentityProviderEntry, description: describe('entry') }),
  domains: t.stringList({ description: describe('domains') }),
  trustEmail: t.boolean({ description: describe('trustEmail') }),
  claims: t.field({ type: 'JSONObject', description: describe('claims') }),
  copyClaims: t.field({ type: CopyTimeEnum, description: describe('copyClaims') }),
  trustAcr: t.field({ type: 'JSONObject', description: describe('trustAcr') }),
  trustAmr: t.stringList({ description: describe('trustAmr') }),
  upstreamLogout: t.boolean({ description: describe('upstreamLogout') }),
  usePkce: t.boolean({ description: describe('usePkce') }),
  expectNonce: t.boolean({ description: describe('expectNonce') }),
  keepTokens: t.boolean({ description: describe('keepTokens') }),
})
