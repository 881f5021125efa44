import { describe, expect } from 'vitest'
import { findTenant } from '../../src/access/tenant-cache.ts'
import { getSettings, updateSettings } from '../../src/tenants/settings.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import type { CallOptions } from '../support/calls.ts'
import { countStatements } from '../support/statements.ts'
import { test } from '../support/tenant-per-test.ts'
import { OTHER_SETTINGS, UNSET_SETTINGS } from '../support/tenants.ts'

describe('updateSettings', () => {
  test('changes the given settings, unsets a setting by an empty string or null, and takes effect at once', async ({
    tenant,
    ctx,
    events,
  }) => {
    await findTenant(tenant)
    const stored = { ...OTHER_SETTINGS, migrationEndsAt: new Date(OTHER_SETTINGS.migrationEndsAt) }
    const secrets = { mailServerPassword: 'correct horse', smsGatewayToken: 'token' }
    expect(await updateSettings(ctx, { ...OTHER_SETTINGS, ...secrets })).toMatchObject(stored)
    expect(await findTenant(tenant)).toMatchObject(stored)
    const unset = { logoUrl: null, loginUrl: null, dynamicRegistration: false }
    expect(
      await updateSettings(ctx, { logoUrl: '', loginUrl: null, dynamicRegistration: null }),
    ).toMatchObject({ ...stored, ...unset })
    expect(await getSettings(ctx)).toEqual({ ...stored, ...unset })
    const [changed, cleared] = (await events()).slice(-2)
    expect([changed, cleared].map((event) => event?.type)).toEqual(['tenant.updated', 'tenant.updated'])
    // The table keeps the default of this one: other tests send documents that are not registered.
    const { acceptedDocuments: _, ...others } = { ...OTHER_SETTINGS, ...secrets } as Record<string, unknown>
    expect(changed?.changedFields.toSorted()).toEqual(Object.keys(others).sort())
    expect(cleared?.changedFields.toSorted()).toEqual(Object.keys(unset).sort())
  })

  test('takes at most five round trips, and one that writes nothing without a setting', async ({
    ctx,
    events,
  }) => {
    await updateSettings(ctx, { friendlyName: 'warm' })
    expect(await countStatements(() => updateSettings(ctx, { friendlyName: 'Acme' }))).toBeLessThanOrEqual(5)
    const before = (await events()).length
    expect(await countStatements(() => updateSettings(ctx, {}))).toBe(1)
    expect(await events()).toHaveLength(before)
  })

  test('leaves the settings of another tenant unchanged', async ({ ctx }) => {
    await updateSettings(ctx, { friendlyName: 'Mine' })
    expect(await getSettings(await ctxFor(await newTenant()))).toMatchObject({ friendlyName: null })
  })
})

describe('the settings of a tenant', () => {
  test('are the same over REST and GraphQL', async ({ tenant, rest, gql }) => {
    const patched = await rest('PATCH', '/settings', {
      friendlyName: 'Acme',
      supportUrl: 'https://a.example',
    })
    expect([patched.status, patched.body]).toEqual([
      200,
      { ...UNSET_SETTINGS, friendlyName: 'Acme', supportUrl: 'https://a.example' },
    ])
    const changed = await gql(
      `mutation ($input: UpdateTenantSettingsInput!) { updateTenantSettings(input: $input) {
         __typename ... on UpdateTenantSettingsPayload { tenant { id settings { friendlyName supportUrl } } }
         ... on ValidationError { fields { field description } } } }`,
      { input: { supportUrl: null, friendlyName: 'Acme Ltd' } },
    )
    expect(changed.body.data.updateTenantSettings).toEqual({
      __typename: 'UpdateTenantSettingsPayload',
      tenant: { id: tenant, settings: { friendlyName: 'Acme Ltd', supportUrl: null } },
    })
    const read = await rest('GET', '/settings')
    expect(read.body).toEqual({ ...UNSET_SETTINGS, friendlyName: 'Acme Ltd' })
  })

  test('have a JSON Schema whose unset keywords REST omits and GraphQL answers as null', async ({
    rest,
    gql,
  }) => {
    const rating = { type: 'NUMBER', minimum: 0.5, maximum: 5 }
    const plan = { type: 'STRING', enum: ['free', 'pro'], format: null }
    const changed = await gql(
      `mutation ($input: UpdateTenantSettingsInput!) { updateTenantSettings(input: $input) {
         ... on UpdateTenantSettingsPayload { tenant { settings { signUpFields {
           schema { type enum format minLength maxLength minimum maximum } } } } } } }`,
      {
        input: {
          signUpFields: [
            { field: 'userMetadata.rating', schema: rating },
            { field: 'userMetadata.plan', schema: plan },
            { field: 'name' },
          ],
        },
      },
    )
    const unset = { enum: null, format: null, minLength: null, maxLength: null, minimum: null, maximum: null }
    expect(changed.body.data.updateTenantSettings.tenant.settings.signUpFields).toEqual([
      { schema: { ...unset, ...rating } },
      { schema: { ...unset, ...plan } },
      { schema: null },
    ])
    const { body } = await rest('GET', '/settings')
    expect(body.signUpFields.map(({ schema }: { schema: object | null }) => schema)).toEqual([
      { type: 'number', minimum: 0.5, maximum: 5 },
      { type: 'string', enum: ['free', 'pro'] },
      null,
    ])
  })

  test('are rejected with every invalid field, and require tenant:write', async ({ rest, gql }) => {
    const input = {
      logoUrl: 'javascript:alert(1)',
      loginUrl: 'nope',
      migrationEndsAt: '2100-01-01T00:00:00Z',
    }
    const issues = [
      { field: 'logoUrl', description: 'must be an http or https URL' },
      { field: 'loginUrl', description: 'must be an absolute URL' },
      { field: 'migrationEndsAt', description: 'must be within two years' },
    ]
    const patched = await rest('PATCH', '/settings', input)
    expect(patched.status).toBe(400)
    expect(patched.body.fields).toEqual(issues)
    const mutation = `mutation ($input: UpdateTenantSettingsInput!) { updateTenantSettings(input: $input) {
      ... on ValidationError { fields { field description } } } }`
    const mutated = await gql(mutation, { input })
    expect(mutated.body.data.updateTenantSettings.fields).toEqual(issues)
    const reader: CallOptions = { scopes: ['tenant:read'] }
    expect((await rest('PATCH', '/settings', input, reader)).status).toBe(403)
    const rejected = await gql(mutation, { input }, reader)
    expect(rejected.body.errors?.[0]).toMatchObject({ extensions: { code: 'FORBIDDEN' } })
  })
})
