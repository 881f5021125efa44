import * as z from 'zod'
import { DATA_IMAGE_PATTERN, parseDataImage } from '../model/brand-images.ts'
import { createUrlPattern, findUrlIssue } from './url-shapes.ts'

const MAX_URL_LENGTH = 2000
const RULES = { secure: true }

function findImageIssue(value: string): string | null {
  if (/^data:/i.test(value))
    return parseDataImage(value)
      ? null
      : 'must be the data URL of a PNG, JPEG or WebP image in base64, of 32 KB at most'
  if (value.length > MAX_URL_LENGTH)
    return `must have at most ${MAX_URL_LENGTH} characters, unless it is a data URL`
  return findUrlIssue(value, RULES)
}

const PATTERN = `(?=^.{0,${MAX_URL_LENGTH}}$)${createUrlPattern(RULES)}|${DATA_IMAGE_PATTERN}`

/** The https URL of an image (http on this machine), or the image itself as a data URL. */
export const createImageUrl = () =>
  z
    .string('must be a string')
    .superRefine((value, context) => {
      const issue = findImageIssue(value)
      if (issue) context.addIssue(issue)
    })
    .meta({ format: 'uri', pattern: PATTERN })
