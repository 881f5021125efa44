import { expect } from 'vitest'

/** The required members of a new client. */
export const MINIMAL_CLIENT = { name: 'App', appType: 'web', type: 'login' } as const

/** An error with exactly these validation issues, for toThrow. */
export const withIssues = (fields: { field: string; description: unknown }[]) =>
  expect.objectContaining({ fields })
