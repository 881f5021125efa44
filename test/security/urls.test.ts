import { readFileSync } from 'node:fs'
import { getNamedType, isInputObjectType } from 'graphql'
import { describe, expect } from 'vitest'
import { listSources } from '../support/imports.ts'
import { rootFields } from '../support/schema.ts'
import { BAD_URLS, isList, test, URL_FIELDS, URL_NAME } from '../support/url-members.ts'

describe('the arguments that are URLs', () => {
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
        'supportUrl',
        'termsUrl',
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

describe('an argument that is a URL', () => {
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

describe('the source code', () => {
  const listFilesWith = (pattern: RegExp) =>
    listSources().filter((file) => pattern.test(readFileSync(file, 'utf8')))

  test('sends requests from these files only', () => {
    expect(listFilesWith(/(?<![.\w])fetch\(|\b(https?)\.(request|get)\(|'undici'/)).toEqual([
      // The guarded fetcher of every URL that a client or an administrator sets.
      'src/core/fetcher.ts',
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
