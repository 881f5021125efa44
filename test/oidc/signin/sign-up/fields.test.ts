import { describe, expect } from 'vitest'
import { updateSettings } from '../../../../src/tenants/settings.ts'
import { listTags } from '../../../support/pages.tsx'
import { answerIn } from '../../../support/protocol.ts'
import { test as base } from '../../../support/sign-up.ts'

const TERMS = {
  termsUrl: 'https://acme.example/terms',
  termsVersion: '2026-11',
  privacyUrl: 'https://acme.example/privacy',
}
const FIELDS = [
  { field: 'givenName', required: true },
  { field: 'birthdate' },
  {
    field: 'userMetadata.company',
    required: true,
    label: 'Company',
    schema: { type: 'string', minLength: 2 },
  },
  { field: 'userMetadata.seats', label: 'Seats', schema: { type: 'integer', minimum: 1, maximum: 10 } },
  { field: 'userMetadata.plan', label: 'Plan', schema: { type: 'string', enum: ['free', 'pro'] } },
  { field: 'userMetadata.news', label: 'Newsletter', schema: { type: 'boolean' } },
  { field: 'userMetadata.site', label: 'Site', schema: { type: 'string', format: 'uri' } },
]

/** `test` with fields of every kind. */
const test = base.extend('asked', { scope: 'file', auto: true }, ({ ctx }) =>
  updateSettings(ctx, { signUpFields: FIELDS }),
)

describe('the fields of a sign-up', () => {
  test('are those of the setting, in their order, and are stored with their types', async ({
    browser,
    stranger,
    atCreation,
    findUsers,
  }) => {
    const page = await atCreation()
    const names = [...page.html.matchAll(/name="(givenName|birthdate|userMetadata\.\w+)"/g)].map(
      ([, name]) => name,
    )
    expect(names).toEqual(FIELDS.map(({ field }) => field))
    const { location } = await browser.submit(page, {
      step: 'create',
      givenName: ' Ada ',
      birthdate: '1815-12-10',
      'userMetadata.company': 'Acme',
      'userMetadata.seats': '3',
      'userMetadata.plan': 'pro',
      'userMetadata.news': 'on',
      'userMetadata.site': '',
    })
    expect(answerIn(location)).toHaveProperty('code')
    expect(await findUsers(stranger)).toMatchObject([
      {
        name: null,
        givenName: 'Ada',
        birthdate: '1815-12-10',
        userMetadata: { company: 'Acme', seats: 3, plan: 'pro', news: true },
        termsVersion: null,
        termsAcceptedAt: null,
      },
    ])
  })

  test('are rejected together, each with its error, and keep what was entered', async ({
    browser,
    stranger,
    atCreation,
    findUsers,
  }) => {
    const page = await atCreation()
    const { response } = await browser.submit(page, {
      step: 'create',
      givenName: '',
      'userMetadata.company': 'A',
      'userMetadata.seats': '3.5',
      'userMetadata.plan': 'gold',
      'userMetadata.site': 'nowhere',
    })
    const html = await response.text()
    for (const words of [
      'First name is required.',
      'Company must have at least 2 characters.',
      'Seats must be a whole number.',
      'Plan must be one of: free, pro.',
      'Site must be a web address.',
    ])
      expect(html).toContain(words)
    expect(html).toContain('value="nowhere"')
    expect(html).toContain('<title>Error: Create your account')
    expect(await findUsers(stranger)).toEqual([])
    for (const [seats, words] of [
      ['11', 'Seats must be at most 10.'],
      ['0', 'Seats must be at least 1.'],
      ['many', 'Seats must be a number.'],
    ] as const) {
      const again = await browser.submit(page, {
        step: 'create',
        givenName: 'Ada',
        'userMetadata.company': 'Acme',
        'userMetadata.seats': seats,
      })
      expect(await again.response.text()).toContain(words)
    }
    const date = { step: 'create', givenName: 'Ada', 'userMetadata.company': 'Acme', birthdate: '10.12.1815' }
    expect(await (await browser.submit(page, date)).response.text()).toContain('Date of birth must be a date')
  })

  test('cannot be unique members, regular expressions or members of other objects', async ({ ctx }) => {
    const rejected = [
      [{ field: 'email' }, 'signUpFields.0.field'],
      [{ field: 'phoneNumber' }, 'signUpFields.0.field'],
      [{ field: 'roles' }, 'signUpFields.0.field'],
      [{ field: 'appMetadata.plan' }, 'signUpFields.0.field'],
      [{ field: 'userMetadata.__proto__' }, 'signUpFields.0.field'],
      [{ field: 'userMetadata.a.b' }, 'signUpFields.0.field'],
      [{ field: 'name', schema: { type: 'string' } }, 'signUpFields.0.schema'],
      [
        { field: 'userMetadata.a', schema: { type: 'string', pattern: '(a+)+$' } },
        'signUpFields.0.schema.pattern',
      ],
      [{ field: 'userMetadata.a', schema: { type: 'object' } }, 'signUpFields.0.schema.type'],
    ] as const
    for (const [field, name] of rejected)
      await expect(updateSettings(ctx, { signUpFields: [field] })).rejects.toMatchObject({
        status: 400,
        fields: [{ field: name }],
      })
  })
})

describe('the terms of use', () => {
  const ADA = { step: 'create', givenName: 'Ada', 'userMetadata.company': 'Acme' }

  test('are linked and must be accepted; the user keeps the version and the time, on both surfaces', async ({
    ctx,
    browser,
    stranger,
    rest,
    gql,
    atCreation,
    findUsers,
  }) => {
    await updateSettings(ctx, TERMS)
    const page = await atCreation()
    expect(page.html).toContain(`href="${TERMS.termsUrl}"`)
    expect(page.html).toContain(`href="${TERMS.privacyUrl}"`)
    const without = await browser.submit(page, { ...ADA, 'terms-version': TERMS.termsVersion })
    expect(await without.response.text()).toContain('Agree to the terms of use')
    const before = Date.now()
    await browser.submit(page, { ...ADA, 'terms-version': TERMS.termsVersion, terms: 'on' })
    const [user] = await findUsers(stranger)
    expect(user).toMatchObject({ termsVersion: '2026-11' })
    expect(user?.termsAcceptedAt?.getTime()).toBeGreaterThanOrEqual(before)
    const shown = { termsVersion: '2026-11', termsAcceptedAt: user?.termsAcceptedAt?.toISOString() }
    expect((await rest('GET', `/users/${user?.id}`)).body).toMatchObject(shown)
    const query = `{ user(id: "${user?.id}") { termsVersion termsAcceptedAt } }`
    expect((await gql(query)).body.data.user).toEqual(shown)
    const patched = await rest('PATCH', `/users/${user?.id}`, { termsVersion: 'x' })
    expect(patched.body.fields).toEqual([{ field: 'termsVersion', description: 'is set by the service' }])
  })

  test('stay accepted after an error of another field while their version is the same', async ({
    ctx,
    browser,
    atCreation,
  }) => {
    await updateSettings(ctx, TERMS)
    const page = await atCreation()
    const submit = async (form: Record<string, string>) => {
      const { response } = await browser.submit(page, { ...ADA, givenName: '', ...form })
      return listTags(await response.text()).find(({ attributes }) => attributes.id === 'terms')?.attributes
    }
    const agreed = { terms: 'on', 'terms-version': TERMS.termsVersion }
    expect(await submit(agreed)).toHaveProperty('checked')
    expect(await submit({ 'terms-version': TERMS.termsVersion })).not.toHaveProperty('checked')
    await updateSettings(ctx, { termsVersion: '2027-01' })
    expect(await submit(agreed)).not.toHaveProperty('checked')
  })

  test('are accepted in the version that the page showed', async ({
    ctx,
    browser,
    stranger,
    atCreation,
    findUsers,
  }) => {
    await updateSettings(ctx, TERMS)
    const page = await atCreation()
    await updateSettings(ctx, { termsVersion: '2027-01' })
    const form = { ...ADA, 'terms-version': TERMS.termsVersion, terms: 'on' }
    expect(await (await browser.submit(page, form)).response.text()).toContain(
      'The terms of use have changed.',
    )
    expect(await findUsers(stranger)).toEqual([])
    await browser.submit(page, { ...form, 'terms-version': '2027-01' })
    expect(await findUsers(stranger)).toMatchObject([{ termsVersion: '2027-01' }])
  })
})
