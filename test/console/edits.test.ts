import { describe, expect, test } from 'vitest'
import { addEdits, type Edits, listChanged, settleEdits } from '../../console/src/parts/edits.ts'

type Form = { name: string; color: string; isOn: boolean }

const SAVED = { values: { name: 'Shop', color: 'red', isOn: false }, updatedAt: '1' }
const THEIRS = { values: { name: 'Shop', color: 'blue', isOn: false }, updatedAt: '2' }
const edit = (
  added: Partial<Form>,
  edits: Edits<Form> = null,
  saved = SAVED,
  isSaving = false,
): Edits<Form> => addEdits(edits, added, { saved, isSaving })

describe('the edits of a form', () => {
  test('are what differs from the saved values, and keep those of the first edit', () => {
    const first = edit({ name: 'Store' })
    const second = edit({ isOn: true }, first, THEIRS)
    expect(second).toEqual({ values: { name: 'Store', isOn: true }, since: SAVED })
    expect(listChanged(second, THEIRS)).toEqual(['color'])
    expect(edit({ name: 'Shop' }, first)).toBe(null)
    expect(listChanged(null, THEIRS)).toEqual([])
  })

  test('lose what was saved, and keep what was typed while the save was under way', () => {
    const sent = { name: 'Store', color: 'green' }
    const answer = { values: { ...SAVED.values, ...sent }, updatedAt: '2' }
    expect(settleEdits(edit(sent), sent, answer)).toBe(null)
    // The former value is an entry again, for the save replaces it.
    const later = edit({ name: 'Shop', isOn: false }, edit(sent), SAVED, true)
    expect(settleEdits(later, sent, answer)).toEqual({ values: { name: 'Shop' }, since: answer })
  })
})
