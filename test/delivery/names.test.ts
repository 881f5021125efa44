import { describe, expect, test } from 'vitest'
import { cleanClientName, cleanName, isolateName } from '../../src/delivery/names.ts'

describe('cleanName', () => {
  test('writes a name in one line', () => {
    expect(cleanName(' A\r\nBcc:\u0000x\u2028\u0085y\t ')).toBe('A Bcc: x y')
  })

  test('removes characters that are invisible or change the direction of the text', () => {
    expect(cleanName('a\u202eb\u2066c\u200fd\u061ce\u200bf\ufeffg\u00adh')).toBe('abcdefgh')
    // Persian and emoji consist of joined characters.
    expect(cleanName('می\u200cشود 👩\u200d🚀')).toBe('می\u200cشود 👩\u200d🚀')
  })

  test('cuts after a whole grapheme of the first 60 characters', () => {
    expect(cleanName('x'.repeat(200))).toBe('x'.repeat(60))
    expect(cleanName(`${'x'.repeat(57)}👩‍🚀`)).toBe('x'.repeat(57))
    expect(cleanName(`a b${'\u0301'.repeat(200)}`)).toBe('a')
  })
})

describe('cleanClientName', () => {
  test.each([
    ['https://evil.example/x', 'https: //evil. example/x'],
    ['www.evil.example', 'www. evil. example'],
    ['mailto:eve@evil.example', 'mailto: eve@evil. example'],
    ['evil。example', 'evil。 example'],
    ['evil\u200b.example', 'evil. example'],
    ['192.0.2.1', '192. 0. 2. 1'],
    ['Shop: the app. Really...', 'Shop: the app. Really...'],
  ])('leaves no link in %j', (given, expected) => {
    expect(cleanClientName(given)).toBe(expected)
  })

  test('limits the length after spaces were added', () => {
    expect(cleanClientName('a.'.repeat(60)).length).toBeLessThan(61)
  })
})

describe('isolateName', () => {
  test('isolates right-to-left names and leaves others as they are', () => {
    expect(['אקמי', 'شركة', 'Acme', 'Škoda'].map((name) => isolateName(name))).toEqual([
      '\u2068אקמי\u2069',
      '\u2068شركة\u2069',
      'Acme',
      'Škoda',
    ])
  })
})
