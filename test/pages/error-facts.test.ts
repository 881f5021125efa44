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
    ])
  })

  test('are none in production', () => {
    expect(listErrorFacts(error, true)).toEqual([])
  })
})
