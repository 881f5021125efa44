import { describe, expect, test, vi } from 'vitest'
import { getScreenDocument, keepScreenDocument } from '../../console/src/api/screen-document.ts'

const open = (href: string) => vi.stubGlobal('location', { href })

describe('the document of a screen', () => {
  test('is that of its address, also when several screens have one form', () => {
    open('/users')
    expect(getScreenDocument()).toBe(null)
    keepScreenDocument('shellQuery', { id: 'shell', variables: {} })
    expect(getScreenDocument()).toBe(null)
    keepScreenDocument('userScreenQuery', { id: 'user', variables: {} })
    open('/settings')
    keepScreenDocument('settingsFormQuery', { id: 'settings', variables: {} })
    expect(getScreenDocument()).toEqual({ id: 'settings', variables: {} })
    open('/users')
    expect(getScreenDocument()).toEqual({ id: 'user', variables: {} })
  })

  test('is not that of a further page of its list', () => {
    open('/sessions')
    const first = { id: 'sessions', variables: { isFirst: true, page: 0 } }
    keepScreenDocument('sessionsScreenQuery', first)
    keepScreenDocument('sessionsScreenQuery', { id: 'sessions', variables: { isFirst: false, page: 9 } })
    expect(getScreenDocument()).toEqual(first)
  })
})
