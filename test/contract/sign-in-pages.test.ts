import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { SIGN_IN_METHODS } from '../../src/model/sign-in-methods.ts'

const FOLDER = 'docs/sign-in'
/** The page of a method of the hosted pages. */
const toPage = (method: string): string => `${method === 'provider' ? 'identity-providers' : method}.md`
/** The limits belong to every method. */
const pages = readdirSync(FOLDER).filter((name) => name !== 'limits.md')

describe('the documentation of a sign-in', () => {
  test.each(SIGN_IN_METHODS)('has a page about the method %s', (method) => {
    expect(pages).toContain(toPage(method))
  })

  test.each(pages)(
    'says in %s what people see, how to switch it on, what is recorded, and the threats',
    (name) => {
      const text = readFileSync(`${FOLDER}/${name}`, 'utf8')
      for (const part of [
        /^## What the (user|person) sees$/m,
        /^```graphql$/m,
        /Over REST/,
        /on the command line/i,
        /vestibule [a-z]+ [a-z]+/,
        /^## What is recorded$/m,
        /^## Threats$/m,
        /\]\(\.\.\/security\.md#[a-z-]+\)/,
      ])
        expect(text).toMatch(part)
    },
  )
})
