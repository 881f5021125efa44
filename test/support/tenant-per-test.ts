import { test as base } from 'vitest'
import { ctxFor, newTenant, tokenFor } from './actors.ts'
import { bindCalls, bindEvents } from './calls.ts'
import { openApp } from './fixtures.ts'

/** `test` with a tenant for each test, for tests that count, list or change all objects of a tenant. */
export const test = base
  .extend('app', { scope: 'worker' }, () => openApp())
  .extend('tenant', async () => {
    await openApp()
    return newTenant()
  })
  .extend('token', ({ tenant }) => tokenFor(tenant))
  .extend('ctx', ({ tenant }) => ctxFor(tenant))
  .extend('calls', ({ app, tenant, token }) => bindCalls(app, tenant, token))
  .extend('rest', ({ calls }) => calls.rest)
  .extend('gql', ({ calls }) => calls.gql)
  .extend('create', ({ calls }) => calls.create)
  .extend('events', ({ tenant }) => bindEvents(tenant))
