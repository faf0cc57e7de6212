import type { FamilyFault } from '../../domain/catalog/validity.ts'
import type { CatalogRefusals } from '../../domain/refusal.ts'
import type { ErrorDetails } from '../api-error.ts'
import { duration } from './phrases.ts'
import type { RefusalTable } from './refusal-table.ts'

export const catalog = {
  model_not_found: {
    api: 'model_not_found',
    message: ({ model, replacedBy }) =>
      replacedBy === undefined
        ? [
            `There is no model ${JSON.stringify(model)}. GET /v1/models returns the models.`,
            'Use the ID or an alias of a family, or the ID of an endpoint.',
          ].join(' ')
        : `The model ${JSON.stringify(model)} was withdrawn. Use ${replacedBy}; see GET /v1/models/${replacedBy}.`,
    details: ({ replacedBy }) => replacement(replacedBy),
  },
  model_not_listed: {
    api: 'model_not_found',
    message: ({ model, replacedBy }) =>
      replacedBy === undefined
        ? `There is no model ${JSON.stringify(model)}. GET /v1/models returns the models.`
        : `The model ${JSON.stringify(model)} was withdrawn. Use ${replacedBy}.`,
    details: ({ replacedBy }) => replacement(replacedBy),
  },
  model_not_served: {
    api: 'unavailable',
    message: ({ endpoint }) =>
      `This service has no provider for ${endpoint} now. GET /v1/models lists available models. Nothing was charged.`,
  },
  model_waits: {
    api: 'unavailable',
    message: ({ endpoint, retryAfterMs }) =>
      `No provider takes runs of ${endpoint} now. Try again in ${duration(retryAfterMs)}; nothing was charged.`,
  },
  kind_not_offered: {
    api: 'invalid_input',
    message: ({ model, kinds }) =>
      [
        `${model} has only these kinds: ${kinds.join(', ')}.`,
        'An input with video_url selects a video-to-* kind, one with image_url an image-to-* kind,',
        'any other a text-to-* kind.',
      ].join(' '),
    details: () => ({ errors: [{ path: '/input', message: 'selects a kind that the model does not have' }] }),
  },
  family_exists: { api: 'invalid_request', message: () => 'The family is already published.' },
  family_not_found: { api: 'not_found', message: () => 'There is no such family.' },
  family_unchanged: { api: 'invalid_request', message: () => 'The family is already published in this form.' },
  family_changed: {
    api: 'invalid_request',
    message: () =>
      'The family has changed since you opened this page. Look at its history, and review your change again.',
  },
  family_invalid: {
    api: 'invalid_request',
    message: ({ fault }) => `The family is not valid: ${describeFamilyFault(fault)}.`,
  },
} satisfies RefusalTable<CatalogRefusals>

const replacement = (replacedBy: string | undefined): ErrorDetails =>
  replacedBy === undefined ? {} : { replaced_by: replacedBy }

/** What is wrong with a family. */
export const describeFamilyFault = (fault: FamilyFault): string => {
  const { id } = fault
  switch (fault.code) {
    case 'text_ill_formed':
      return `${id}: the text at ${fault.path} is not well-formed Unicode`
    case 'schema_unusable':
      return `${id}: the schema ${fault.reason}`
    case 'name_taken':
      return `${id}: the name ${fault.name} belongs to another family`
    case 'kind_repeated':
      return `${id} has two endpoints of one kind`
    case 'id_mismatch':
      return `${id}: the id must be ${fault.expectedId}`
    case 'parameter_unknown':
      return `${id}: the price depends on ${fault.parameter}, which is not a parameter`
    case 'quantity_uncountable':
      return `${id}: ${fault.parameter} is a quantity and so needs a minimum above 0, a maximum, and whole millionths`
    case 'values_not_listed':
      return `${id}: ${fault.parameter} has multipliers and so needs an enum`
    case 'values_not_scalar':
      return `${id}: ${fault.parameter} has multipliers, so its values must be texts, numbers or booleans`
    case 'multiplier_missing':
      return `${id}: ${fault.parameter} ${fault.value} has no multiplier`
    case 'quantity_inexact':
      return `${id}: the numbers of ${fault.parameter} must be whole millionths up to ${fault.maximum}`
    case 'price_unbounded':
      return `${id}: ${fault.parameter} affects the price and so needs an enum, bounds or the type boolean`
    case 'price_combinations':
      return `${id}: the parameters that affect its price have more than ${fault.limit} combinations of values`
    case 'price_missing':
      return `${id}: a run could cost nothing; give it a base price or prices for tokens`
    case 'price_too_high':
      return `${id}: its highest price is too large to represent exactly`
  }
}
