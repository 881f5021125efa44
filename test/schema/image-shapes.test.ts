import { describe, expect, test } from 'vitest'
import { createImageUrl } from '../../src/schema/image-shapes.ts'
import { PNG, toDataUrl } from '../support/images.ts'

/** The start of a JPEG and of a WebP, and padding. */
const JPEG = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(20)])
const WEBP = Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(4), Buffer.from('WEBPVP8 '), Buffer.alloc(9)])

const shape = createImageUrl()
const pattern = new RegExp(shape.meta()?.pattern as string, 'u')
const LIMIT = 32_768
const pad = (content: Buffer, length: number) =>
  Buffer.concat([content, Buffer.alloc(length - content.length)])
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')

describe('the URL of an image', () => {
  test.each([
    ['an https URL', 'https://acme.example/logo.png?v=1'],
    ['a PNG', toDataUrl('png', PNG)],
    ['a JPEG', toDataUrl('jpeg', JPEG)],
    ['a WebP', toDataUrl('webp', WEBP)],
    ['a WebP with padding', toDataUrl('webp', Buffer.concat([WEBP, Buffer.alloc(1)]))],
    ['a PNG of 32 KB', toDataUrl('png', pad(PNG, LIMIT))],
  ])('is %s', (_what, url) => {
    expect(shape.parse(url)).toBe(url)
    expect(url).toMatch(pattern)
  })

  test.each([
    ['an SVG', toDataUrl('svg+xml', svg)],
    ['an SVG that says it is a PNG', toDataUrl('png', svg)],
    ['a PNG that says it is a JPEG', toDataUrl('jpeg', PNG)],
    ['a JPEG that says it is a WebP', toDataUrl('webp', JPEG)],
    ['a RIFF that is not a WebP', toDataUrl('webp', Buffer.from('RIFF0000WAVEfmt '))],
    ['a GIF', toDataUrl('gif', Buffer.from('GIF89a'))],
    ['HTML', 'data:text/html;base64,PGI+'],
    ['a PNG with a parameter', toDataUrl('png;x=1', PNG)],
    ['a PNG in capitals', toDataUrl('png', PNG).replace('data:image', 'DATA:image')],
    ['a PNG without base64', `data:image/png,${PNG.toString('hex')}`],
    ['a PNG with a line break', `${toDataUrl('png', PNG)}\n`],
    ['a PNG with a quotation mark', `${toDataUrl('png', PNG)}"`],
    ['a PNG without its last character', toDataUrl('png', PNG).slice(0, -1)],
  ])('is not %s', (_what, url) => {
    const { error } = shape.safeParse(url)
    expect(error?.issues[0]?.message).toBe(
      'must be the data URL of a PNG, JPEG or WebP image in base64, of 32 KB at most',
    )
    expect(url).not.toMatch(pattern)
  })

  test('has 32 KB at most as a data URL, and 2000 characters otherwise', () => {
    expect(shape.safeParse(toDataUrl('png', pad(PNG, LIMIT + 1))).success).toBe(false)
    expect(shape.safeParse(toDataUrl('png', pad(PNG, LIMIT + 100))).success).toBe(false)
    const long = `https://acme.example/${'a'.repeat(1980)}`
    expect(shape.safeParse(long).error?.issues[0]?.message).toMatch(/^must have at most 2000 characters/)
    expect(long).not.toMatch(pattern)
  })

  test('is validated in a moment, whatever it is', () => {
    const began = performance.now()
    for (const url of [`data:image/png;base64,${'A'.repeat(43_000)}!`, `https://${'a.'.repeat(20_000)}!`])
      expect(shape.safeParse(url).success).toBe(false)
    expect(performance.now() - began).toBeLessThan(200)
  })
})
