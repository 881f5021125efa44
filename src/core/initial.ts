/** The first grapheme of a name, in upper case. */
export const getInitial = (name: string): string =>
  [...new Intl.Segmenter('en').segment(name.trim())][0]?.segment.toUpperCase() ?? '?'
