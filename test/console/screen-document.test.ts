import { describe, expect, test, vi } from 'vitest'
import { getScreenDocument, keepScreenDocument } from '../../console/src/api/screen-document.ts'

const open = (href: string) => vi.stubGlobal('location', { href })

describe('the document of a screen', () => {
  test('is that of its address, also when several screens have one form', () => {
    open('/users')
    expect(getScreenDocument()).toBe(null)
    keepScreenDocument('shellQuery', { text: 'shell', variables: {} })
    expect(getScreenDocument()).toBe(null)
    keepScreenDocument('userScreenQuery', { text: 'user', variables: {} })
    open('/settings')
    keepScreenDocument('settingsFormQuery', { text: 'settings', variables: {} })
    expect(getScreenDocument()).toEqual({ text: 'settings', variables: {} })
    open('/users')
    expect(getScreenDocument()).toEqual({ text: 'user', variables: {} })
  })

  test('is not that of a further page of its list', () => {
    open('/sessions')
    const first = { text: 'sessions', variables: { isFirst: true, page: 0 } }
    keepScreenDocument('sessionsScreenQuery', first)
    keepScreenDocument('sessionsScreenQuery', { text: 'sessions', variables: { isFirst: false, page: 9 } })
    expect(getScreenDocument()).toEqual(first)
  })
})
