import { describe, expect } from 'vitest'
import { test } from '../support/tenants.ts'

const MUTATION = `mutation ($input: UpdateTenantSettingsInput!) { updateTenantSettings(input: $input) {
  ... on UpdateTenantSettingsPayload { tenant { settings { themeColor darkThemeColor cornerRadius font } } }
  ... on ValidationError { fields { field description } } } }`

describe('the settings of the brand', () => {
  test('are the same over REST and GraphQL, and null is the default', async ({ rest, gql }) => {
    const brand = { themeColor: '#0A7C66', darkThemeColor: '#5fd1b8', cornerRadius: 0, font: 'serif' }
    expect((await rest('PATCH', '/settings', brand)).body).toMatchObject(brand)
    const unset = { themeColor: '', darkThemeColor: null, cornerRadius: null, font: null }
    const { body } = await gql(MUTATION, { input: unset })
    expect(body.data.updateTenantSettings.tenant.settings).toEqual({
      themeColor: null,
      darkThemeColor: null,
      cornerRadius: 10,
      font: 'SYSTEM',
    })
  })

  test('are rejected with every invalid field, and nothing is changed', async ({ rest, gql }) => {
    const before = (await rest('GET', '/settings')).body
    const input = {
      friendlyName: 'Changed',
      themeColor: 'red',
      darkThemeColor: '#fff',
      darkLogoUrl: 'http://acme.example/logo.png',
      faviconUrl: 'data:image/svg+xml,<svg/>',
      cornerRadius: 25,
    }
    const issues = [
      { field: 'themeColor', description: 'must be a color such as #0a7c66' },
      { field: 'darkThemeColor', description: 'must be a color such as #0a7c66' },
      { field: 'darkLogoUrl', description: 'must be an https URL (http on this machine only)' },
      {
        field: 'faviconUrl',
        description: 'must be the data URL of a PNG, JPEG or WebP image in base64, of 32 KB at most',
      },
      { field: 'cornerRadius', description: 'must be a whole number from 0 to 24' },
    ]
    const font = { field: 'font', description: expect.stringContaining('must be one of: system, ') }
    const patched = await rest('PATCH', '/settings', { ...input, font: 'Comic Sans' })
    expect([patched.status, patched.body.fields]).toEqual([400, [...issues, font]])
    const { body } = await gql(MUTATION, { input })
    expect(body.data.updateTenantSettings.fields).toEqual(issues)
    expect((await rest('GET', '/settings')).body).toEqual(before)
  })
})
