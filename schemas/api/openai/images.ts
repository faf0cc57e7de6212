import { type Static, Type } from 'typebox'
import { Closed, JsonObject, OneOf, Url } from '../../primitives.ts'
import { about } from '../about.ts'
import { FileBytes } from '../file.ts'
import { ModelId, OpenAiStore } from '../run.ts'
import { Cost } from './chat.ts'

/** Other members are parameters of the model. */
const further = {
  additionalProperties: true,
  description: [
    'Images in the form of OpenAI’s API. Every other member is a parameter of the model, as its `parameters_schema`',
    'has it; a parameter that the model lacks is refused, unless its value changes nothing.',
  ].join(' '),
}

const prompt = about(Type.String(), 'The content of the images.', 'A lighthouse on a cliff in a storm, oil painting')
const change = about(Type.String(), 'The change to make to the image.', 'Make it winter')

/** The parameters of all requests for images. */
const common = {
  model: ModelId,
  n: Type.Optional(about(Type.Integer(), 'The number of images: `num_images` of the model.', 2)),
  size: Type.Optional(
    about(
      Type.String(),
      [
        'The width and height in pixels. For a model without sizes in pixels, they select the `aspect_ratio`, which',
        'must be the same, and the `resolution` with about as many pixels. `auto` leaves the size to the model.',
      ].join(' '),
      '1024x1024',
    ),
  ),
  response_format: Type.Optional(
    about(
      OneOf('url', 'b64_json'),
      [
        'Whether the answer has the URLs of the images or the files. The default is `url`,',
        'and `b64_json` for models whose name begins with `gpt-image-`, as in OpenAI’s API.',
      ].join(' '),
    ),
  ),
  metadata: Type.Optional(about(JsonObject, 'Stored with the run.', { order: '17' })),
  user: Type.Optional(about(Type.String(), 'Your name of the end user, stored in the metadata of the run.', 'u-17')),
  store: OpenAiStore,
}

export const ImageRequest = Type.Object({ ...common, prompt }, further)
export type ImageRequest = Static<typeof ImageRequest>

/** An edit without a file of its own. */
export const EditRequest = Type.Object(
  {
    ...common,
    prompt: change,
    images: about(
      Type.Array(
        Closed({
          image_url: about(Url, 'The URL of the image, such as that of an upload, or a small `data:` URL.'),
        }),
        { minItems: 1, maxItems: 1 },
      ),
      'The image to edit.',
      [{ image_url: 'https://example.com/garden.jpg' }],
    ),
  },
  further,
)
export type EditRequest = Static<typeof EditRequest>

/** The texts of a form. Numbers and truth values arrive as text too. */
export const EditTexts = Type.Object({ ...common, prompt: change }, further)

export const EditForm = Type.Object(
  { ...EditTexts.properties, image: about(FileBytes, 'The file of the image to edit, also as `image[]`.') },
  further,
)

export const ImageAnswer = Closed({
  created: about(Type.Integer(), 'When the run was accepted, in seconds since 1970.', 1795736149),
  data: Type.Array(
    Closed({
      url: Type.Optional(about(Url, 'The URL of the image, without `b64_json`.')),
      b64_json: Type.Optional(about(Type.String(), 'The file in Base64, for the `response_format` `b64_json`.')),
    }),
  ),
  usage: Closed(Cost),
})
export type ImageAnswer = Static<typeof ImageAnswer>
