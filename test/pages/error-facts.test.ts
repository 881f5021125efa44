import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { OAuthError } from '../../src/core/oauth-error.ts'
import { listErrorFacts } from '../../src/pages/error-facts.ts'

const error = new OAuthError('invalid_request', 'The redirect_uri is not registered for this client.', {
  diagnostics: { given: 'https://a.example/', registered: 1, resource: null, error_description: 'Pay here.' },
})

describe('the facts of an error page', () => {
  test('are the error code and what was given, without the text of an application, in development', () => {
    expect(listErrorFacts(error, false)).toEqual([
      ['error', 'invalid_request'],
      ['given', 'https://a.example/'],
      ['registered', '1'],
      ['documentation', 'docs/errors.md#oauth-and-openid-connect-errors'],
    ])
    expect(readFileSync('docs/errors.md', 'utf8')).toContain('\n## OAuth and OpenID Connect errors\n')
  })

  test('are none in production', () => {
    expect(listErrorFacts(error, true)).toEqual([])
  })
})
