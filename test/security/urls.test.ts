import { readFileSync } from 'node:fs'
import {
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql'
import { describe, expect } from 'vitest'
import { ownTokenFor } from '../support/actors.ts'
import { test as base } from '../support/fixtures.ts'
import { listSources } from '../support/imports.ts'
import { namedTypes, rootFields } from '../support/schema.ts'
import { hasServices } from '../support/services.ts'

/** Names of members that are URLs. A new member with such a name is tested without being listed. */
const URL_NAME = /ur[il]s?$|callbacks?$|origins?$|endpoints?$|^(profile|picture|website|logo|issuer)$/i

/** The members of input types that are URLs. */
const URL_FIELDS = namedTypes
  .filter(isInputObjectType)
  .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type: type.name, field })))
  // The profile of a client is the name of a set of settings. Copied claims have the names of claims.
  .filter(
    ({ type, field }) =>
      URL_NAME.test(field.name) && !isEnumType(getNamedType(field.type)) && type !== 'CopiedClaimsInput',
  )

const isList = (type: GraphQLInputType): boolean =>
  isNonNullType(type) ? isList(type.ofType) : isListType(type)

/** URLs that run a script, leave the web or hide their host. */
const BAD_URLS = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  ' javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'blob:https://example.com/x',
  'file:///etc/passwd',
  '//evil.example',
  '/\\evil.example',
  'https://example.com\\@evil.example',
  'https://user:password@evil.example/',
  'https://exa mple.com/',
  'https://example.com/\r\nset-cookie: a=b',
  'https://',
  'evil',
  '*',
]

/** A gateway needs its token. */
const addToken = (fields: object) => ({
  ...fields,
  ...('smsGatewayUrl' in fields && { smsGatewayToken: 'token' }),
})

type Written = { status: number; body: object }
type Write = (fields: object) => Promise<Written>

let count = 0
/** With writers of every input type that has a URL. */
const test = base
  /** Writes members of an input type, by the name of the type. */
  .extend('writers', { scope: 'file' }, async ({ tenant, systemToken, rest, gql, create, spa }) => {
    const { id: clientId } = await create('/clients', { name: 'x', appType: 'web', type: 'login' })
    const { id: userId } = await create('/users')
    await create('/idps', { id: 'up', type: 'google', name: 'x' })
    const { id: organizationId } = await create('/organizations', { slug: 'up', name: 'x' })
    const { id: webhookId } = await create('/webhooks', { url: 'https://example.com' })
    const ownToken = await ownTokenFor(tenant, userId, spa.id)

    // The provider has no clientId, which is an error that is found after the URL has been validated.
    const linkIdpUser: Write = async (fields) => {
      const answer = await rest('PUT', `/users/${userId}/idps/up`, { code: 'x', ...fields })
      const isAboutProvider = JSON.stringify(answer.body.fields).includes('"idpId"')
      return isAboutProvider ? { ...answer, status: 200 } : answer
    }
    const updateViewer: Write = async (fields) => {
      const document = `mutation ($input: UpdateViewerInput!) { updateViewer(input: $input) {
        __typename ... on ValidationError { fields { field } }
      } }`
      const { body } = await gql(document, { input: fields }, { token: ownToken })
      const result = body.data?.updateViewer
      return {
        status: result?.__typename === 'UpdateViewerPayload' ? 200 : 400,
        body: { fields: result?.fields },
      }
    }
    // Issues are named below the translation.
    const translateClient: Write = async (texts) => {
      const translations = [{ locale: 'de', ...texts }]
      const answer = await rest('PATCH', `/clients/${clientId}`, { translations })
      return { ...answer, body: JSON.parse(JSON.stringify(answer.body).replaceAll('"translations.0.', '"')) }
    }
    // Issues are named below `settings`.
    const createTenant: Write = async (settings) => {
      count += 1
      const target = { tenant: 'system', token: systemToken }
      const answer = await rest('POST', '/tenants', { slug: `${tenant}-${count}`, settings }, target)
      return { ...answer, body: JSON.parse(JSON.stringify(answer.body).replaceAll('"settings.', '"')) }
    }
    const writers: Record<string, Write> = {
      UpdateViewerInput: updateViewer,
      CreateUserInput: (fields) => rest('POST', '/users', fields),
      UpdateUserInput: (fields) => rest('PATCH', `/users/${userId}`, fields),
      CreateClientInput: (fields) =>
        rest('POST', '/clients', { name: 'x', appType: 'web', type: 'login', ...fields }),
      ClientTranslationInput: translateClient,
      UpdateClientInput: (fields) => rest('PATCH', `/clients/${clientId}`, fields),
      CreateIdentityProviderInput: (fields) => {
        count += 1
        return rest('POST', '/idps', { id: `up-${count}`, type: 'google', name: 'x', ...fields })
      },
      UpdateIdentityProviderInput: (fields) => rest('PATCH', '/idps/up', fields),
      CreateOrganizationInput: (fields) => {
        count += 1
        return rest('POST', '/organizations', { slug: `up-${count}`, name: 'x', ...fields })
      },
      UpdateOrganizationInput: (fields) => rest('PATCH', `/organizations/${organizationId}`, fields),
      LinkIdpUserInput: linkIdpUser,
      LinkViewerIdpUserInput: linkIdpUser,
      CreateWebhookInput: (fields) => rest('POST', '/webhooks', fields),
      UpdateWebhookInput: (fields) => rest('PATCH', `/webhooks/${webhookId}`, fields),
      UpdateTenantSettingsInput: (fields) => rest('PATCH', '/settings', addToken(fields)),
      TenantSettingsInput: (fields) => createTenant(addToken(fields)),
    }
    return writers
  })

describe.runIf(hasServices)('the arguments that are URLs', () => {
  test('are members of input types with these names', () => {
    expect([...new Set(URL_FIELDS.map(({ field }) => field.name))].sort()).toEqual(
      [
        'allowedLogoutUrls',
        'allowedOrigins',
        'authorizationEndpoint',
        'backchannelLogoutUrl',
        'callbacks',
        'darkLogoUrl',
        'faviconUrl',
        'initiateLoginUrl',
        'issuer',
        'jwksUri',
        'loginUrl',
        'logoUrl',
        'picture',
        'clientUri',
        'policyUrl',
        'privacyUrl',
        'profile',
        'redirectUri',
        'smsGatewayUrl',
        'supportUrl',
        'termsUrl',
        'url',
        'proofUrl',
        'tokenEndpoint',
        'userInfoEndpoint',
        'webOrigins',
        'website',
      ].sort(),
    )
    for (const [title, , field] of rootFields)
      for (const { name, type } of field.args)
        expect([title, name, URL_NAME.test(name) && !isInputObjectType(getNamedType(type))]).toEqual([
          title,
          name,
          false,
        ])
  })
})

describe.runIf(hasServices)('an argument that is a URL', () => {
  test.for(URL_FIELDS.map(({ type, field }) => [`${type}.${field.name}`, type, field] as const))(
    '%s rejects URLs that run a script, leave the web or hide their host',
    async ([, type, field], { writers }) => {
      const write = writers[type]
      if (!write) throw new Error(`add a writer of ${type}`)
      for (const bad of BAD_URLS) {
        const answer = await write({ [field.name]: isList(field.type) ? [bad] : bad })
        expect([bad, answer.status]).toEqual([bad, 400])
        expect(JSON.stringify(answer.body)).toContain(`"${field.name}`)
      }
      const good = 'https://example.com'
      expect((await write({ [field.name]: isList(field.type) ? [good] : good })).status).toBeLessThan(300)
    },
  )
})

describe.runIf(hasServices)('the source code', () => {
  const listFilesWith = (pattern: RegExp) =>
    listSources().filter((file) => pattern.test(readFileSync(file, 'utf8')))

  test('sends requests from these files only', () => {
    expect(listFilesWith(/(?<![.\w])fetch\(|\b(https?)\.(request|get)\(|'undici'/)).toEqual([
      // The address that an operator gives to the command line.
      'src/cli/api/remote-api.ts',
      // The guarded fetcher of every URL that a client or an administrator sets.
      'src/core/network/fetcher.ts',
      // SMS_URL, without redirects.
      'src/delivery/sms.ts',
      // Own endpoints: the demo client in development, and a script in the browser.
      'src/dev/demo-client.routes.ts',
      'src/pages/assets/enrollment-script.ts',
    ])
  })

  test('uses no helper that follows headers of the request or reads sessions and files', () => {
    expect(
      listFilesWith(
        /\b(redirectBack|requireBasicAuth|serveStatic|useSession|createEventStream|getRequestHost|getRequestURL)\b/,
      ),
    ).toEqual([])
  })

  test('builds no SQL from values', () => {
    expect(listFilesWith(/\.\$(query|execute)Raw\s*[`(<]|\bPrisma\.raw\(/)).toEqual([])
  })
})
