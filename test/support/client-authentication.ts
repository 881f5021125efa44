import { test as base } from './fixtures.ts'

export const INVALID_CLIENT = { error: 'invalid_client', error_description: 'Client authentication failed.' }
export const MACHINE = { appType: 'machine', callbacks: [], scopes: ['users:read'] }
export const encodeBasic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`

/** With token requests of a machine client. */
export const test = base
  .extend('machine', { scope: 'file' }, ({ newClient }) => newClient(MACHINE))
  .extend(
    'call',
    { scope: 'file' },
    ({ oidc }) =>
      (form: Record<string, string>, authorization?: string) =>
        oidc.token(
          { grant_type: 'client_credentials', ...form },
          null,
          authorization === undefined ? {} : { authorization },
        ),
  )
  .extend(
    'post',
    { scope: 'file' },
    ({ app, tenant }) =>
      (body: BodyInit, headers: Record<string, string>) =>
        fetch(`${app.origin}/${tenant}/oidc/token`, { method: 'POST', body, headers }),
  )
  .extend(
    'authorization',
    { scope: 'file' },
    ({ machine }) =>
      () =>
        encodeBasic(machine.id, machine.secret),
  )
