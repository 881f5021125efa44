import { describe, expect, vi } from 'vitest'
import { test } from '../support/fixtures.ts'

vi.hoisted(() => {
  process.env.CONSOLE = '0'
})

describe('CONSOLE=0', () => {
  test('leaves no path of the console', async ({ app, tenant }) => {
    for (const path of [`/${tenant}/console`, `/${tenant}/console/users`, '/console', '/assets/console/x.js'])
      expect([path, (await fetch(`${app.origin}${path}`)).status]).toEqual([path, 404])
  })
})
