import type { ParameterRule } from '../../../schemas/binding.ts'
import { implied, pairs, same, sizes } from '../bindings/rules.ts'
import { integer } from '../parameter-schemas.ts'
import { aspectRatio, imageFormat, imageUrl, prompt, resolution, safetyTolerance, seed } from '../parameters.ts'

const ratios = ['1:1', '16:9', '3:2', '2:3', '4:5', '5:4', '9:16', '3:4', '4:3', '21:9']

const common = {
  resolution: resolution(
    'The size of the image in megapixels, which decides the price.',
    ['0.5 MP', '1 MP', '2 MP', '4 MP'],
    '1 MP',
  ),
  output_format: imageFormat(['jpeg', 'png', 'webp'], 'jpeg'),
  output_quality: integer('Output quality', 'The quality of JPEG and WebP files.', {
    minimum: 0,
    maximum: 100,
    default: 80,
  }),
  safety_tolerance: safetyTolerance(5, '2'),
  seed: seed('image'),
}

/** Text-to-image parameters of all FLUX.2 models. */
export const flux2TextToImage = {
  prompt: prompt('The content of the image.', 10_000),
  aspect_ratio: aspectRatio(ratios, '1:1'),
  ...common,
}

/** Image-to-image parameters of all FLUX.2 models. */
export const flux2ImageToImage = {
  prompt: prompt('The change to make to the image.', 10_000),
  image_url: imageUrl('The image to edit'),
  aspect_ratio: aspectRatio(['match_input_image', ...ratios], 'match_input_image'),
  ...common,
}

/** Replicate names sizes like the family. It comes first, since only Replicate makes WebP files and takes a quality. */
export const replicateFlux2: ParameterRule[] = [
  ...same('prompt', 'resolution', 'output_quality', 'seed'),
  { from: 'output_format', to: 'output_format', values: { jpeg: 'jpg', png: 'png', webp: 'webp' } },
  {
    from: 'safety_tolerance',
    to: 'safety_tolerance',
    values: { 1: 1, 2: 2, 3: 3, 4: 4, 5: 5 },
  },
  {
    from: 'aspect_ratio',
    to: 'aspect_ratio',
    only: ['match_input_image', '1:1', '16:9', '3:2', '2:3', '4:5', '5:4', '9:16', '3:4', '4:3'],
  },
  { from: 'image_url', to: 'input_images', as: 'files' },
]

/** Multiples of 16 from 256 to 2560 pixels, which are the limits of fal. */
const sizeTable = sizes(
  pairs({
    '0.5 MP': {
      ...{ '1:1': '720x720', '16:9': '960x528', '3:2': '880x576', '2:3': '576x880', '4:5': '640x800' },
      ...{ '5:4': '800x640', '9:16': '528x960', '3:4': '624x832', '4:3': '832x624', '21:9': '1104x464' },
    },
    '1 MP': {
      ...{ '1:1': '1024x1024', '16:9': '1360x768', '3:2': '1248x832', '2:3': '832x1248', '4:5': '912x1136' },
      ...{ '5:4': '1136x912', '9:16': '768x1360', '3:4': '880x1168', '4:3': '1168x880', '21:9': '1552x656' },
    },
    '2 MP': {
      ...{ '1:1': '1440x1440', '16:9': '1920x1072', '3:2': '1760x1168', '2:3': '1168x1760', '4:5': '1280x1616' },
      ...{ '5:4': '1616x1280', '9:16': '1072x1920', '3:4': '1248x1664', '4:3': '1664x1248', '21:9': '2208x944' },
    },
    '4 MP': {
      ...{ '1:1': '2048x2048', '16:9': '2560x1440', '3:2': '2496x1664', '2:3': '1664x2496', '4:5': '1824x2288' },
      ...{ '5:4': '2288x1824', '9:16': '1440x2560', '3:4': '1760x2352', '4:3': '2352x1760', '21:9': '2560x1088' },
    },
  }),
)

export const falFlux2: ParameterRule[] = [
  ...same('prompt', 'safety_tolerance', 'seed'),
  { from: 'output_format', to: 'output_format', only: ['jpeg', 'png'] },
  // The vendor's own quality.
  implied('output_quality', 80),
  {
    from: ['resolution', 'aspect_ratio'],
    to: 'image_size',
    // Keeps the size of the input image, so no other resolution is possible.
    values: { ...sizeTable, '1 MP match_input_image': 'auto' },
  },
  { from: 'image_url', to: 'image_urls', as: 'files' },
]
