import { expect } from 'vitest'

/** Asserts the whole error body of REST and the headers of every response. */
export async function expectError(
  response: Response,
  status: number,
  code: string,
  message: unknown = expect.any(String),
  fields: unknown = [],
): Promise<Response> {
  const body = (await response.json()) as { requestId: string }
  expect({ status: response.status, body }).toEqual({
    status,
    body: { message, requestId: expect.any(String), fields, code },
  })
  expect(response.headers.get('x-request-id')).toBe(body.requestId)
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  return response
}
