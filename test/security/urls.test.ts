import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type GraphQLInputType, getNamedType, isInputObjectType, isListType, isNonNullType } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPE_NAMES, SYSTEM_TENANT } from '../../src/ctx.ts'
import { buildSchema } from '../../src/graphql/schema.ts'
import { newTenant, ownTokenFor, tokenFor } from '../support/actors.ts'
import { startApp, type TestApp } from '../support/app.ts'

let app: TestApp
let tenant: string
let token: string
let userId: string
let clientId: string
/** Of the user, for what is theirs. */
let ownToken: string

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  token = await tokenFor(tenant)
  const client = { name: 'x', appType: 'web', type: 'login' }
  clientId = String((await app.rest(tenant, token, 'POST', '/clients', client)).body.id)
  userId = String((await app.rest(tenant, token, 'POST', '/users', {})).body.id)
  await app.rest(tenant, token, 'POST', '/idps', { id: 'up', type: 'google', name: 'x' })
  ownToken = await ownTokenFor(tenant, userId, clientId)
})
afterAll(() => app.close())

/** Names that say that a value is a URL; a field with such a name is checked here without being listed. */
const URL_NAME = /ur[il]s?$|callbacks?$|origins?$|endpoints?$|^(profile|picture|website|logo|issuer)$/i
/** Named so, and no URL. A new one has to be argued for here. */
const NOT_URLS: string[] = []

const schema = buildSchema()
const urlFields = Object.values(schema.getTypeMap())
  .filter(isInputObjectType)
  .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type: type.name, field })))
  .filter(({ field }) => URL_NAME.test(field.name) && !NOT_URLS.includes(field.name))

const isList = (type: GraphQLInputType): boolean =>
  isNonNullType(type) ? isList(type.ofType) : isListType(type)

/** Where people or clients could be sent, and what a page could be made to run. */
const BAD = [
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

let idps = 0
/** Its URL is not written, but handed to the provider: this one has no clientId, which is found out after the URL. */
async function linkIdpUser(fields: object) {
  const answer = await app.rest(tenant, token, 'PUT', `/users/${userId}/idps/up`, { code: 'x', ...fields })
  const isAboutProvider = JSON.stringify(answer.body.fields).includes('"idpId"')
  return isAboutProvider ? { ...answer, status: 200 } : answer
}

/** Over GraphQL alone; answered as REST would. */
async function updateViewer(fields: object) {
  const document = `mutation ($input: UpdateViewerInput!) { updateViewer(input: $input) {
    __typename ... on ValidationError { fields { field } }
  } }`
  const { body } = await app.gql(tenant, ownToken, document, { input: { fields } })
  const result = body.data?.updateViewer
  return { status: result?.__typename === 'ViewerPayload' ? 200 : 400, body: { fields: result?.fields } }
}

let tenants = 0
/** Its faults are named below `settings`. */
async function createTenantWith(settings: object) {
  tenants += 1
  const operator = await tokenFor(SYSTEM_TENANT, SCOPE_NAMES)
  const body = { slug: `${tenant}-${tenants}`, settings }
  const answer = await app.rest(SYSTEM_TENANT, operator, 'POST', '/tenants', body)
  return { ...answer, body: JSON.parse(JSON.stringify(answer.body).replaceAll('"settings.', '"')) }
}

describe('security 3, 5, 6: every argument that is a URL is judged as one', () => {
  test('they are these', () => {
    const names = [...new Set(urlFields.map(({ field }) => field.name))].sort()
    expect(names).toEqual(
      [
        'allowedLogoutUrls',
        'allowedOrigins',
        'authorizationEndpoint',
        'backchannelLogoutUrl',
        'callbacks',
        'initiateLoginUrl',
        'issuer',
        'jwksUri',
        'loginUrl',
        'logoUrl',
        'picture',
        'profile',
        'redirectUri',
        'supportUrl',
        'tokenEndpoint',
        'userInfoEndpoint',
        'webOrigins',
        'website',
      ].sort(),
    )
    for (const root of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()])
      for (const field of Object.values(root?.getFields() ?? {}))
        for (const { name, type } of field.args)
          expect([field.name, name, URL_NAME.test(name) && !isInputObjectType(getNamedType(type))]).toEqual([
            field.name,
            name,
            false,
          ])
  })

  test.each(urlFields.map(({ type, field }) => [`${type}.${field.name}`, type, field] as const))(
    '%s takes nothing that runs, leaves the web or hides where it leads',
    async (_name, type, field) => {
      const routes: Record<string, (body: object) => Promise<{ status: number; body: object }>> = {
        ViewerFieldsInput: updateViewer,
        UserFieldsInput: (body) => app.rest(tenant, token, 'PATCH', `/users/${userId}`, body),
        ClientFieldsInput: (body) =>
          app.rest(tenant, token, 'POST', '/clients', { name: 'x', appType: 'web', type: 'login', ...body }),
        UpdateClientFieldsInput: (body) => app.rest(tenant, token, 'PATCH', `/clients/${clientId}`, body),
        CreateIdentityProviderInput: (body) => {
          idps += 1
          return app.rest(tenant, token, 'POST', '/idps', {
            id: `up-${idps}`,
            type: 'google',
            name: 'x',
            ...body,
          })
        },
        UpdateIdentityProviderInput: (body) => app.rest(tenant, token, 'PATCH', '/idps/up', body),
        LinkIdpUserInput: linkIdpUser,
        LinkViewerIdpUserInput: linkIdpUser,
        UpdateTenantSettingsInput: (body) => app.rest(tenant, token, 'PATCH', '/settings', body),
        TenantSettingsInput: createTenantWith,
      }
      const write = routes[type]
      expect(write, `say here how ${type} is written`).toBeDefined()
      for (const bad of BAD) {
        const answer = await write?.({ [field.name]: isList(field.type) ? [bad] : bad })
        expect([bad, answer?.status]).toEqual([bad, 400])
        expect(JSON.stringify(answer?.body)).toContain(`"${field.name}`)
      }
      const good = 'https://example.com'
      expect((await write?.({ [field.name]: isList(field.type) ? [good] : good }))?.status).toBeLessThan(300)
    },
  )
})

describe('security 4, 44, 52: what the program does not do at all', () => {
  const files = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory()
        ? entry.name === 'generated'
          ? []
          : files(join(folder, entry.name))
        : [join(folder, entry.name)],
    )
  const using = (pattern: RegExp) => files('src').filter((file) => pattern.test(readFileSync(file, 'utf8')))

  test('it fetches nothing but what the operator configured: no logo, picture or key of anybody', () => {
    expect(using(/(?<![.\w])fetch\(|\b(https?)\.(request|get)\(|'undici'/).sort()).toEqual(
      [
        // Its own endpoints: in development, and out of the browser.
        'src/dev/demo-client.routes.ts',
        'src/assets/enrolment-script.ts',
        // SMS_URL, without following redirects.
        'src/delivery/sms.ts',
        // What administrators name as an identity provider; its tests say what it refuses.
        'src/fetcher.ts',
      ].sort(),
    )
  })

  test('it uses none of the helpers that others were broken by', () => {
    expect(
      using(
        /\b(redirectBack|requireBasicAuth|serveStatic|useSession|createEventStream|getRequestHost|getRequestURL)\b/,
      ),
    ).toEqual([])
  })

  test('no SQL is put together from values', () => {
    expect(using(/\.\$(query|execute)Raw\s*[`(<]|\bPrisma\.raw\(/)).toEqual([])
  })
})
